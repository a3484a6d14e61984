import { loadPackage } from '../base/optional-package.ts';

export type ClientSdk = typeof import('@modelcontextprotocol/client');

/** Loaded on first use. Throws USAGE if it is not installed. */
export async function loadClientSdk(): Promise<ClientSdk> {
  const about = { name: '@modelcontextprotocol/client', need: '`mcp_servers` needs', code: 'USAGE' } as const;
  return await loadPackage(import('@modelcontextprotocol/client'), about);
}
