import type {
  AuthInfo,
  CallToolResult,
  McpServerFactory,
  Result,
  ServerContext,
} from '@modelcontextprotocol/server';
import { toFault } from '../base/errors.ts';
import { shorten } from '../base/text/phrases.ts';
import { suggest } from '../base/text/suggest.ts';
import type { ToolDocument, ToolInfo } from '../contract/document.ts';
import type { OnProgress } from '../contract/progress.ts';
import { readTrace } from '../contract/trace.ts';
import type { CallIdentity, Principal } from '../runtime/runtime.ts';
import { callIdOf, clientOf, type McpClient } from './client.ts';
import { decide, isOpened, openQuestion, type Question, questionKey, readDecision } from './decision.ts';
import { argumentsOf } from './messages.ts';
import { bounded, errorResult, toResult } from './result.ts';
import { invalidParams, type ServerParts, toResultOptions } from './sdk.ts';
import { createdTask, mayDecide, requireTasks, serveTasks } from './tasks.ts';
import { pageOf } from './tools.ts';

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
      throw invalidParams(sdk, '`params.cursor` is not a cursor of this server');
    });
    server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
      const tool = offered.get(name);
      if (tool === undefined) {
        const { hint } = suggest(name, [...offered.keys()]);
        throw invalidParams(
          sdk,
          `\`params.name\`: there is no tool ${JSON.stringify(shorten(name))}${hint ? `; ${hint}` : ''}`,
        );
      }
      const client = clientOf(server, context, parts.session);
      const result = await answerCall(parts, { info: tool.info, client }, context);
      if ('resultType' in result) return result as CallToolResult;
      return bounded(
        server.projectCallToolResult(result as CallToolResult, tool.shown.outputSchema),
        runtime.mcp.maxMessageBytes,
      );
    });
    serveTasks(server, parts);
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

/** A call that only reads is made again. */
function identityOf({ info, client: { principal } }: ClientCall, meta: unknown): CallIdentity {
  const id = callIdOf(meta);
  return id !== undefined && info.annotations.read_only !== true
    ? { principal, id, joinsWaiting: true }
    : { principal };
}

interface ClientCall {
  readonly info: ToolInfo;
  readonly client: McpClient;
}

/** A task, a question for the person in front of the agent, or the result of the call. */
async function answerCall(parts: ServerParts, call: ClientCall, { mcpReq }: ServerContext): Promise<Result> {
  const { sdk, runtime } = parts;
  const { info, client } = call;
  const { task } = info.mcp;
  if (task === 'required') requireTasks(sdk, client);
  const { signal, _meta } = mcpReq;
  const args = argumentsOf(_meta);
  const identity = identityOf(call, _meta);
  const trace = readTrace(_meta?.['traceparent'], _meta?.['tracestate']);
  const texts = toResultOptions(parts);
  const resultOf = (document: ToolDocument) => toResult(document, info, texts);
  try {
    if (task !== null && client.hasTasks) {
      const { id, done } = runtime.tools.start(info.name, args, { id: identity, trace });
      done.catch(() => {});
      return await createdTask(parts, await id);
    }
    const options = { signal, identity, trace, onProgress: progressOf(mcpReq) };
    const make = async () => await runtime.tools.call(info.name, args, options);
    const document = await make();
    if (document.status !== 'pending') return resultOf(document);
    const { id, run_id } = document.pending;
    if (client.hasTasks) return await createdTask(parts, run_id);
    const isDecider = mayDecide(parts, client);
    const link = client.hasLinks ? texts.linkOf(id) : undefined;
    if (!isDecider && link === undefined) return resultOf(document);
    const ticket: unknown = mcpReq.requestState();
    let responses: unknown = mcpReq.inputResponses;
    if (typeof ticket === 'string') {
      if (!(await runtime.pending.useTicket(id, ticket)))
        throw invalidParams(sdk, '`params.requestState` is not valid, or has been used');
    } else {
      const question = await openQuestion(runtime, { id, client, isDecider, link });
      if (question === undefined) return resultOf(document);
      if (client.asksAgain) return sdk.inputRequired(question);
      responses = await askWithin(mcpReq, question.inputRequests);
    }
    const decision = isDecider ? readDecision(responses) : undefined;
    if (decision === undefined && link !== undefined && isOpened(responses)) {
      const outcome = await runtime.pending.outcome(id, { waitMs: DECIDE_MS, signal });
      return resultOf(outcome.status === 'running' ? await make() : outcome);
    }
    if (decision === undefined) return resultOf(document);
    const refusal = await decide(runtime, { id, client, decision });
    return refusal === undefined ? resultOf(await make()) : errorResult(refusal);
  } catch (thrown) {
    if (thrown instanceof sdk.ProtocolError) throw thrown;
    const error = toFault(thrown);
    parts.report(error);
    return resultOf({ status: 'failed', error });
  }
}

/** A client of 2025 is asked while its call waits, and may have nobody to answer. Never rejects. */
async function askWithin(
  { elicitInput, signal }: ServerContext['mcpReq'],
  { [questionKey]: question }: Question['inputRequests'],
): Promise<unknown> {
  try {
    return { [questionKey]: await elicitInput(question.params, { signal, timeout: ASK_MS }) };
  } catch {
    return undefined;
  }
}

const ASK_MS = 20_000;
/** How long a call waits for the decision of a person who opened the page. Many clients give up after a minute. */
const DECIDE_MS = 30_000;

/** Tells a client that asked for it how far its call is: in rising steps, and not too often. */
function progressOf({ _meta, notify }: ServerContext['mcpReq']): OnProgress | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  let nextAt = 0;
  return (step) => {
    const now = performance.now();
    if (step.progress <= last || now < nextAt) return;
    last = step.progress;
    nextAt = now + PROGRESS_PAUSE_MS;
    const params = { progressToken, ...step };
    // A client that is gone needs no progress.
    void notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

const PROGRESS_PAUSE_MS = 50;
