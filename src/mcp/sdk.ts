import { type Fault, RuntimeError } from '../base/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { OfferedTool } from './tools.ts';

export type Sdk = typeof import('@modelcontextprotocol/server');

/** Loaded on first use. Throws USAGE if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  return await loading(import('@modelcontextprotocol/server'));
}

export async function loadStdioSdk() {
  return await loading(import('@modelcontextprotocol/server/stdio'));
}

async function loading<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (cause) {
    throw new RuntimeError(
      'USAGE',
      'the package "@modelcontextprotocol/server", which `signalbox mcp` needs, cannot be loaded',
      { hint: 'Install it: npm install @modelcontextprotocol/server.', cause },
    );
  }
}

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

export function invalidParams({ ProtocolError, ProtocolErrorCode }: Sdk, message: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
