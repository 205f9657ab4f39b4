import type { SetupState } from "./setup-state.ts";
import { type Change, changesTo, idOf, type SetupPlanner } from "./setup-step.ts";

export interface WantedWebhook {
  /** Also the beginning of the event rule's name. */
  readonly name: string;
  readonly url: string;
  /** PEM on NetBox's own host, for a receiver with a private CA. */
  readonly caFile: string | null;
  readonly role: string;
  readonly secret: string;
  readonly secretPath: string;
  /** Where a secret that nobody has yet will be written. */
  readonly newSecretPath: string | null;
}

/** The webhook, and the rule that sends it for devices of the fleet's role alone. */
export function planWebhook(plan: SetupPlanner, { webhooks, rules }: SetupState, wanted: WantedWebhook): void {
  const { name, url, caFile, role, secret, secretPath, newSecretPath } = wanted;
  const body = {
    payload_url: url,
    http_method: "POST",
    http_content_type: "application/json",
    additional_headers: "",
    body_template: "",
    secret,
    ssl_verification: true,
    ca_file_path: caFile,
  };
  const row = webhooks.find((one) => one.name === name);
  const whence = newSecretPath === null ? [] : [`signed by a new secret, in ${newSecretPath}, mode 0600`];
  if (row === undefined) plan.create("webhook", name, [`POST ${url}`, ...whence], () => ({ name, ...body }));
  else {
    plan.ids.set(`webhook ${name}`, row.id);
    // Of the two by which a webhook would be fleetd's it has neither.
    if (row.payload_url !== url && row.secret !== secret)
      plan.refused.push(
        `webhook ${name} goes to ${urlText(row.payload_url)}, and its secret is not that of ${secretPath}: it is another's, or of another set-up; rename or remove it in NetBox`,
      );
    plan.change("webhook", name, row.id, webhookChanges(row, body));
  }
  if (url.startsWith("http:"))
    plan.notes.push(`the webhook goes to ${url} without TLS: whoever is in between reads what NetBox has of devices`);
  const ruleName = `${name}: devices`;
  const fixed = {
    enabled: true,
    object_types: ["dcim.device"],
    event_types: ["object_created", "object_updated", "object_deleted"],
    conditions: { and: [{ attr: "role.slug", value: role }] },
    action_type: "webhook",
    action_object_type: "extras.webhook",
  };
  const rule = rules.find((one) => one.name === ruleName);
  if (rule === undefined) {
    plan.create("event rule", ruleName, [`devices of role ${role}, made, changed or deleted`], (ids) => ({
      name: ruleName,
      ...fixed,
      action_object_id: idOf(ids, "webhook", name),
    }));
    return;
  }
  const changes = changesTo(rule, fixed);
  if (row === undefined || rule.action_object_id !== row.id)
    changes.push({
      key: "action_object_id",
      value: (ids: ReadonlyMap<string, number>) => idOf(ids, "webhook", name),
      text: `sends webhook ${name}`,
    });
  plan.change("event rule", ruleName, rule.id, changes);
}

/** Its headers and its body's template are as secret as its secret: owners keep credentials there. */
function webhookChanges(row: SetupState["webhooks"][number], body: { readonly payload_url: string }): Change[] {
  return changesTo(row, { ...body }, ["secret", "additional_headers", "body_template"]).map((change) =>
    change.key === "payload_url"
      ? { ...change, text: `payload_url: ${urlText(row.payload_url)} → ${urlText(body.payload_url)}` }
      : change,
  );
}

/** A URL for people, without what may be a credential in it. */
function urlText(url: string): string {
  if (!URL.canParse(url)) return "another one";
  const { protocol, host, pathname, username, password, search } = new URL(url);
  const user = username === "" && password === "" ? "" : "…@";
  return `${protocol}//${user}${host}${pathname}${search === "" ? "" : "?…"}`;
}
