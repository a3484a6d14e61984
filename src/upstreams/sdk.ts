import { RuntimeError } from '../base/errors.ts';

export type ClientSdk = typeof import('@modelcontextprotocol/client');

/** Loaded on first use. Throws USAGE if it is not installed. */
export async function loadClientSdk(): Promise<ClientSdk> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (cause) {
    throw new RuntimeError(
      'USAGE',
      'the package "@modelcontextprotocol/client", which `mcp_servers` needs, cannot be loaded',
      { hint: 'Install it: npm install @modelcontextprotocol/client.', cause },
    );
  }
}
