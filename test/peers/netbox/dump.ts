/** The database of a fresh NetBox, made by make-dump.ts. */
export const DUMP = "test/peers/netbox/netbox-4.7.3.dump";
