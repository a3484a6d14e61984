import { isObject } from '../../src/base/json/json.ts';
import { declarations } from '../../src/console/api/openapi.ts';
import type { Endpoint, ObjectSchema } from '../../src/console/api/schema.ts';

/** docs/reference/http-api.md, from the declarations: every endpoint with what it takes and returns. */
export function renderApiReference(): string {
  const sections = declarations.map((group) => {
    const endpoints = Object.entries<Endpoint>(group);
    const [[first] = ['']] = endpoints;
    const title = titles[/\/(\w+)/.exec(first)?.[1] ?? ''] ?? first;
    return [`## ${title}`, ...endpoints.map(renderEndpoint)].join('\n\n');
  });
  return `${[introduction, ...sections].join('\n\n')}\n`;
}

const titles: Readonly<Record<string, string>> = {
  me: 'The caller and changes',
  pendings: 'Calls that wait for a person',
  runs: 'Runs',
  evals: 'Runs of suites',
  decisions: 'Decisions of hooks, and the audit log',
};

const introduction = `# The HTTP API

[\`signalbox console\`](../guides/use-the-console.md) and \`signalbox serve\` offer an HTTP API below \`/api/v1\`. The page of the console uses nothing else. \`npm run schemas\` generates this page from the code. The same description is there as [OpenAPI 3.1](../../schema/openapi.json), and at \`/api/v1/openapi.json\`.

- **Credentials**: send a key of [\`signalbox keys\`](../guides/limit-callers.md#give-a-key-tools-or-a-role), or an access token of \`spec.mcp.auth\`, as \`Authorization: Bearer …\`. Without a key that has \`pendings:read\`, a console on this machine takes the token of the address that it prints. A token of \`spec.mcp.auth\` needs the URL of the console as its \`aud\`, unless \`audience\` names another. There are no cookies.
- **Scopes**: a credential needs one of the scopes that an endpoint names.
- **Bodies**: a body is one JSON object with \`content-type: application/json\`, of at most \`spec.mcp.max_message_bytes\`. Numbers keep their digits. Unknown members and duplicate keys are errors.
- **Names**: the name of the credential is the name of the person who decides. Nobody decides a call of their own.
- **Pages**: lists return \`next\` if there is more. Send it as \`after\`.
- **Origins**: requests need a \`Host\` that names the server. Signalbox refuses pages of other origins and frames.

A refusal has the body \`{"error": {"code", "message", "hint"?, "path"?}, "pending"?}\`. \`path\` is the member that does not fit.

| status | when |
| --- | --- |
| 400 | a value of the wrong type, an unknown member, a body that is no JSON, or a credential in the address |
| 401 | no credential, or one that is not valid |
| 403 | the credential lacks the scope, the caller made the call itself, or the request comes from another origin |
| 404 | an unknown address or id |
| 405 | a wrong method; \`allow\` has the right ones |
| 409 | somebody has decided or changed the call meanwhile; \`pending\` is the call as it is now |
| 413 | the body is too long |
| 415 | the body has another type |
| 503 | the state store fails; \`retry-after\` says when to try again |`;

function renderEndpoint([key, { about, scopes, query, body, response }]: [string, Endpoint]): string {
  const scope = scopes === 'none' ? 'None needed.' : scopes.length === 0 ? 'Any credential.' : undefined;
  const returned =
    'stream' in response ? `\`${response.stream}\`: ${response.description}` : describeResponse(response);
  return [
    `### \`${key}\``,
    `${about}\n\n- **Scope**: ${scope ?? (scopes as readonly string[]).map((name) => `\`${name}\``).join(' or ')}\n- **Returns**: ${returned}`,
    ...(query === undefined ? [] : [renderMembers('query', query)]),
    ...(body === undefined || Object.keys(body.properties).length === 0 ? [] : [renderMembers('body', body)]),
  ].join('\n\n');
}

function describeResponse(schema: object): string {
  if (!isObject(schema) || !isObject(schema['properties'])) return descriptionOf(schema) || 'an object';
  const required: unknown = schema['required'];
  const isNeeded = (name: string) => Array.isArray(required) && required.includes(name);
  const names = Object.keys(schema['properties']).map((name) => (isNeeded(name) ? name : `${name}?`));
  return `\`{${names.join(', ')}}\``;
}

function descriptionOf(schema: object): string {
  return 'description' in schema ? String(schema.description) : '';
}

function renderMembers(what: string, schema: ObjectSchema): string {
  const rows = listMembers(schema, '').map(({ name, type, text }) => `| \`${name}\` | ${type} | ${text} |`);
  return [`| ${what} | type | meaning |`, '| --- | --- | --- |', ...rows].join('\n');
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

function listMembers({ properties, required }: ObjectSchema, prefix: string): Member[] {
  return Object.entries(properties).flatMap(([key, schema]): Member[] => {
    if (!isObject(schema)) return [];
    const name = `${prefix}${key}`;
    const type = `${typeOf(schema)}${required.includes(key) ? ', required' : ''}`;
    const items = isObject(schema['items']) && 'properties' in schema['items'] ? schema['items'] : undefined;
    const inner = items === undefined ? [] : listMembers(items as unknown as ObjectSchema, `${name}[].`);
    return [{ name, type, text: descriptionOf(schema) }, ...inner];
  });
}

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${value}\``).join(', ');
  if (schema['format'] === 'date-time') return 'time (ISO 8601)';
  return String(schema['type'] ?? 'any');
}
