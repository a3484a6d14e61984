import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { openRuntime } from '../../../dist/index.js';
import { builtProgram } from '../../built.ts';

// The client that the conformance suite tests: a config with the server of a scenario, and the calls that it waits for.

// The suite stops only the shell around this program.
setTimeout(() => process.exit(1), 25_000).unref();

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');

/** Arguments by the type of each property of a schema. */
const samples: Readonly<Record<string, unknown>> = {
  number: 3,
  integer: 3,
  string: 'x',
  boolean: true,
  array: [],
  object: {},
};

function argsFor(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return Object.fromEntries(
    Object.entries(properties).map(([key, { type = 'string' }]) => [key, samples[type]]),
  );
}

/** The schema of the tool allows no null, so Signalbox would refuse the call. */
function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** What a person would copy into the config: the issuer that the server names. */
async function findIssuer(): Promise<string> {
  const { origin, pathname } = new URL(url);
  for (const path of [
    `/.well-known/oauth-protected-resource${pathname}`,
    '/.well-known/oauth-protected-resource',
  ]) {
    const response = await fetch(`${origin}${path}`);
    if (response.ok) return JSON.parse(await response.text()).authorization_servers[0];
  }
  throw new Error('the server names no issuer');
}

async function authOf(): Promise<object | undefined> {
  const { client_id, client_secret, private_key_pem, signing_algorithm } = context;
  const client = { client_id, ...(client_id && { issuer: await findIssuer() }) };
  if (private_key_pem !== undefined)
    return { type: 'private_key_jwt', ...client, private_key: private_key_pem, algorithm: signing_algorithm };
  if (context.idp_id_token !== undefined) {
    const idp = {
      token_endpoint: context.idp_token_endpoint,
      client_id: context.idp_client_id,
      id_token: context.idp_id_token,
    };
    return { type: 'cross_app_access', ...client, client_secret, idp };
  }
  if (/client-credentials/.test(scenario)) return { type: 'client_credentials', ...client, client_secret };
  if (client_secret !== undefined) return { type: 'login', ...client, client_secret };
  if (scenario === 'auth/basic-cimd')
    return { type: 'login', client_id: 'https://conformance-test.local/client-metadata.json' };
  return scenario.startsWith('auth/') ? { type: 'login' } : undefined;
}

/** Scenarios in which the server asks the client. */
const answering = /^(?:sep-2322-client-request-state|elicitation-sep1034-client-defaults)$/;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-conformance-'));
try {
  const auth = await authOf();
  const spec = {
    mcp_servers: [{ name: 'peer', url, ...(auth && { auth }) }],
    // The suite starts authorization servers at other ports of this machine.
    private_hosts: ['localhost', '127.0.0.1', '::1'],
  };
  const file = join(folder, 'runtime.yaml');
  writeFileSync(file, JSON.stringify({ apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', spec }));
  if (answering.test(scenario)) await callThroughProxy(file);
  else await callByLibrary(file);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function callByLibrary(file: string): Promise<void> {
  await using runtime = await openRuntime(file);
  /** A browser in which a person accepts everything. */
  const browse = async (page: string) => {
    const { headers } = await fetch(page, { redirect: 'manual' });
    await fetch(headers.get('location') ?? '');
  };
  const loggedIn = async (work: () => Promise<unknown>) => {
    for (let logins = 0; ; logins += 1) {
      try {
        return await work();
      } catch (error) {
        const { code, details } = error as { code?: string; details?: { scope?: string } };
        if (code !== 'LOGIN_REQUIRED' || logins === 3) throw error;
        await runtime.upstreams.login('peer', { scope: details?.scope, onUrl: (page) => void browse(page) });
      }
    }
  };
  await loggedIn(() => runtime.upstreams.connect('peer'));
  const listed = runtime.tools
    .list()
    .map(({ name, input_schema }) => ({ name, args: argsFor(input_schema) }));
  const asked: typeof listed | undefined = context.toolCalls?.map(
    (call: { name: string; arguments: Record<string, unknown> }) => ({
      name: `peer__${call.name}`,
      args: withoutNulls(call.arguments),
    }),
  );
  for (const { name, args } of asked ?? listed)
    await loggedIn(async () => {
      const document = await runtime.tools.call(name, args);
      if (document.status === 'failed' && document.error.code === 'LOGIN_REQUIRED')
        throw Object.assign(new Error(document.error.message), document.error);
    });
}

/** A client that answers questions of the server: the SDK's own, with `signalbox mcp --proxy` in front of the server. */
async function callThroughProxy(file: string): Promise<void> {
  const client = new Client(
    { name: 'conformance', version: '1' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: { mode: 'auto' },
    },
  );
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }));
  const args = [builtProgram, 'mcp', '--proxy', 'peer', '--config', file];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  const { tools } = await client.listTools();
  // Some answers are wrong on purpose.
  for (const { name, inputSchema } of tools)
    await client.callTool({ name, arguments: argsFor(inputSchema) }).catch(console.error);
  await client.close();
}
