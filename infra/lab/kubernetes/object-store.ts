import { randomUUID } from "node:crypto";
import { isObject, type KubernetesObject, listAt, type Metadata, sameJson, textAt } from "./json.ts";
import type { Resource } from "./resources.ts";
import { alreadyExists, conflict, notFound, wrongUid } from "./status.ts";

export interface StoreEvent {
  readonly resourceVersion: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  readonly object: KubernetesObject;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

// As many events as a watch may lag behind before its resourceVersion has expired.
const KEPT_EVENTS = 5000;

/** The objects of one API server: resourceVersions, UIDs, preconditions, garbage collection, events. */
export class ObjectStore {
  readonly #collections = new Map<Resource, Map<string, KubernetesObject>>();
  /** Names in order, until one comes or goes: lists of a large fleet are read page by page. */
  readonly #sorted = new Map<Resource, readonly string[]>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #events: StoreEvent[] = [];
  #version = 100;
  /** False where no garbage collector runs. */
  collectsGarbage = true;

  get resourceVersion(): string {
    return String(this.#version);
  }

  get(resource: Resource, namespace: string, name: string): KubernetesObject {
    const found = this.#collection(resource).get(keyOf(resource, namespace, name));
    if (found === undefined) throw notFound(resource, name);
    return structuredClone(found);
  }

  has(resource: Resource, namespace: string, name: string): boolean {
    return this.#collection(resource).has(keyOf(resource, namespace, name));
  }

  /** The objects of a kind (to read, not to change) ordered by namespace and name; `namespace` "" takes all. */
  list(resource: Resource, namespace: string): KubernetesObject[] {
    const collection = this.#collection(resource);
    let keys = this.#sorted.get(resource);
    if (keys === undefined) {
      keys = [...collection.keys()].sort();
      this.#sorted.set(resource, keys);
    }
    return keys.flatMap((key) => {
      const object = collection.get(key);
      return object !== undefined && inNamespace(object, namespace) ? [object] : [];
    });
  }

  create(resource: Resource, namespace: string, object: KubernetesObject): KubernetesObject {
    const { name } = object.metadata;
    if (this.has(resource, namespace, name)) throw alreadyExists(resource, name);
    const metadata: Metadata = {
      ...object.metadata,
      ...(resource.namespaced && { namespace }),
      uid: randomUUID(),
      resourceVersion: "",
      creationTimestamp: secondsNow(),
      generation: 1,
    };
    return this.#put("ADDED", resource, namespace, { ...object, metadata });
  }

  /** Replaces an object; its resourceVersion and UID, where given, are preconditions. An equal one writes nothing. */
  update(resource: Resource, namespace: string, object: KubernetesObject): KubernetesObject {
    const { name, uid, resourceVersion } = object.metadata;
    const stored = this.get(resource, namespace, name);
    if (resourceVersion && resourceVersion !== stored.metadata.resourceVersion) throw conflict(resource, name);
    if (uid && uid !== stored.metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.metadata.uid}`;
      throw conflict(resource, name, why);
    }
    const { uid: keptUid, creationTimestamp, generation, resourceVersion: version } = stored.metadata;
    const moved = !sameJson(object.spec, stored.spec);
    const metadata: Metadata = {
      ...object.metadata,
      ...(resource.namespaced && { namespace }),
      uid: keptUid,
      creationTimestamp,
      resourceVersion: version,
      generation: Number(generation) + (moved ? 1 : 0),
    };
    const next = { ...object, metadata };
    return sameJson(next, stored) ? stored : this.#put("MODIFIED", resource, namespace, next);
  }

  remove(resource: Resource, namespace: string, name: string, preconditions: Preconditions): KubernetesObject {
    const stored = this.get(resource, namespace, name);
    const { uid, resourceVersion } = stored.metadata;
    if (preconditions.uid !== undefined && preconditions.uid !== uid) {
      throw wrongUid(resource, name, preconditions.uid, uid);
    }
    if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
      throw conflict(resource, name);
    }
    this.#collection(resource).delete(keyOf(resource, namespace, name));
    this.#sorted.delete(resource);
    this.#version += 1;
    this.#emit({ resourceVersion: this.#version, type: "DELETED", resource, object: stored });
    if (this.collectsGarbage) setImmediate(() => this.#collect(uid));
    return stored;
  }

  /** Events since a resourceVersion, then as they come; null where that one has expired. */
  subscribe(since: number, listener: (event: StoreEvent) => void): (() => void) | null {
    const oldest = this.#events[0]?.resourceVersion ?? this.#version + 1;
    if (since < oldest - 1 && this.#events.length === KEPT_EVENTS) return null;
    for (const event of this.#events) if (event.resourceVersion > since) listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(type: "ADDED" | "MODIFIED", resource: Resource, namespace: string, object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    const next = structuredClone(object);
    next.metadata.resourceVersion = String(this.#version);
    this.#collection(resource).set(keyOf(resource, namespace, next.metadata.name), next);
    if (type === "ADDED") this.#sorted.delete(resource);
    this.#emit({ resourceVersion: this.#version, type, resource, object: structuredClone(next) });
    return structuredClone(next);
  }

  #emit(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length > KEPT_EVENTS) this.#events.shift();
    for (const listener of this.#listeners) listener(event);
  }

  #collect(ownerUid: string): void {
    for (const [resource, objects] of this.#collections) {
      for (const { metadata } of [...objects.values()]) {
        const owners = listAt(metadata, "ownerReferences");
        if (owners.some((owner) => textAt(owner, "uid") === ownerUid)) {
          this.remove(resource, metadata.namespace ?? "", metadata.name, {});
        }
      }
    }
  }

  #collection(resource: Resource): Map<string, KubernetesObject> {
    const found = this.#collections.get(resource) ?? new Map<string, KubernetesObject>();
    this.#collections.set(resource, found);
    return found;
  }
}

/** The time as Kubernetes writes it: UTC, whole seconds. */
export function secondsNow(): string {
  return new Date().toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** Reads a body as an object with a name; a missing part is filled by the caller's path. */
export function asObject(body: unknown, resource: Resource, name: string): KubernetesObject {
  const object = isObject(body) ? body : {};
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  return {
    ...object,
    apiVersion,
    kind: resource.kind,
    metadata: { uid: "", resourceVersion: "", creationTimestamp: "", ...metadata, name },
  };
}

function keyOf(resource: Resource, namespace: string, name: string): string {
  return `${resource.namespaced ? namespace : ""}/${name}`;
}

function inNamespace(object: KubernetesObject, namespace: string): boolean {
  return namespace === "" || object.metadata.namespace === namespace;
}
