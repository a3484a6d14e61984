import type { Fault } from '../base/errors.ts';
import { loadPackage } from '../base/optional-package.ts';
import { consoleLinkOf, type Runtime } from '../runtime/runtime.ts';
import type { OfferedTool } from './tools.ts';

export type Sdk = typeof import('@modelcontextprotocol/server');

/** Loaded on first use. Throws USAGE if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  return await loadPackage(import('@modelcontextprotocol/server'), server);
}

export async function loadStdioSdk() {
  return await loadPackage(import('@modelcontextprotocol/server/stdio'), server);
}

const server = {
  name: '@modelcontextprotocol/server',
  need: '`signalbox mcp` needs',
  code: 'USAGE',
} as const;

export interface ServerParts {
  readonly sdk: Sdk;
  readonly runtime: Runtime;
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly version: string;
  /** What a command of a person on this machine needs to find the config. */
  readonly options?: string | undefined;
  /** The session of the agent that started this process, if it says one. */
  readonly session?: string | undefined;
  /** Receives why a request failed. */
  readonly report: (fault: Fault) => void;
}

/** What the text about a call that waits needs. */
export function toResultOptions({ runtime, options }: Pick<ServerParts, 'runtime' | 'options'>) {
  return { options, linkOf: (pending: string) => consoleLinkOf(runtime.console.url, 'inbox', pending) };
}

export function invalidParams({ ProtocolError, ProtocolErrorCode }: Sdk, message: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
