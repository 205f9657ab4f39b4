/** So few may do it within a day before a person must look; of a larger fleet, so large a part. */
const FEW = 5;
const PART = 0.02;

/**
 * True where so many devices vanished or failed at once that a filter, a role or a bad profile edit is likelier than the machines.
 * @see spec/30-reconcile.md "Requests", "SPIRE and quarantine"
 */
export function isMass(count: number, fleetSize: number): boolean {
  return count > Math.max(FEW, fleetSize * PART);
}
