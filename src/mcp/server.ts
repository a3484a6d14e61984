import type { AuthInfo, CallToolResult, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { suggest } from '../base/text/suggest.ts';
import type { CallIdentity, Principal, Runtime } from '../runtime/runtime.ts';
import { argumentsOf } from './messages.ts';
import { errorResult, toResult } from './result.ts';
import { type OfferedTool, pageOf } from './tools.ts';

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
}

/** Makes the server of one connection over stdio, or of one request over HTTP. Both eras use the same handlers. */
export function serverFactory(parts: ServerParts): McpServerFactory {
  const { sdk, runtime, version } = parts;
  /** Over HTTP, the SDK checks `Mcp-Param-*` headers against this schema. */
  class ToolServer extends sdk.McpServer {
    override toolInputSchemaJson(name: string) {
      return parts.offered.get(name)?.shown.inputSchema;
    }
  }
  return ({ authInfo }) => {
    const offered = toolsOf(parts.offered, authInfo);
    const shown = [...offered.values()].map((tool) => tool.shown);
    const mcp = new ToolServer({ name: 'signalbox', title: runtime.name, version });
    const { server } = mcp;
    server.registerCapabilities({ tools: {} });
    server.setRequestHandler('tools/list', ({ params }) => {
      const page = pageOf(shown, params?.cursor);
      if (page !== undefined) return page;
      throw invalid(sdk, '`params.cursor` is not a cursor of this server');
    });
    server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
      const tool = offered.get(name);
      if (tool === undefined) {
        const { hint } = suggest(name, [...offered.keys()]);
        throw invalid(
          sdk,
          `\`params.name\`: there is no tool ${JSON.stringify(name)}${hint ? `; ${hint}` : ''}`,
        );
      }
      const result = await callTool(parts, tool, context);
      return bounded(
        server.projectCallToolResult(result, tool.shown.outputSchema),
        runtime.mcp.maxMessageBytes,
      );
    });
    return mcp;
  };
}

/** The sender of a request over HTTP, as the SDK hands it on. */
export function toAuthInfo(caller: Principal): AuthInfo {
  return { token: '', clientId: caller.id, scopes: [...caller.scopes], extra: { caller } };
}

/** Tools that the caller may not call do not exist for it. Over stdio, there is no `authInfo`, and no limit. */
function toolsOf(offered: ServerParts['offered'], authInfo: AuthInfo | undefined): ServerParts['offered'] {
  if (authInfo === undefined) return offered;
  const caller = authInfo.extra?.['caller'] as Principal | undefined;
  return new Map([...offered].filter(([name]) => caller?.mayCall(name)));
}

function invalid({ ProtocolError, ProtocolErrorCode }: Sdk, message: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

async function callTool(
  { runtime }: ServerParts,
  { info: { name, output_schema, mcp } }: OfferedTool,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal, _meta } = context.mcpReq;
  const called = { name, givesContent: mcp.result === 'content', hasOutputSchema: output_schema !== null };
  try {
    const options = { signal, identity: identityOf(context) };
    return toResult(await runtime.tools.call(name, argumentsOf(_meta), options), called);
  } catch (thrown) {
    const { code, message, hint } = toRuntimeError(thrown);
    return toResult({ status: 'failed', error: { code, message, hint } }, called);
  }
}

/**
 * A model that calls again after a decision gives its call a new id. So ids of clients do not count: the
 * caller, the tool and the arguments tell that it is the same call.
 */
function identityOf({ http }: ServerContext): CallIdentity {
  return { principal: http?.authInfo?.clientId ?? LOCAL_USER };
}

/** The user of this machine over stdio, with the id that the user has over HTTP on loopback. */
const LOCAL_USER = 'local';

/** Clients close a connection, or refuse an answer, if a message is too long. */
function bounded(result: CallToolResult, maxBytes: number): CallToolResult {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes + ENVELOPE_BYTES <= maxBytes) return result;
  return errorResult(
    `The result was not sent: it has ${bytes} bytes as a message, and the limit (max_message_bytes) is ${maxBytes}. Ask for less, such as a part or a summary.`,
  );
}

const ENVELOPE_BYTES = 1024;
