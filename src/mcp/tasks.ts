import type { Result, Server, ServerContext } from '@modelcontextprotocol/server';
import { toFault, toRuntimeError } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { shorten } from '../base/text/phrases.ts';
import type { RunSummary } from '../contract/run.ts';
import { clientOf, type McpClient, tasksExtension } from './client.ts';
import { decide, questionOf, readDecision, reasonOf } from './decision.ts';
import { bounded, forClient, toResult } from './result.ts';
import { invalidParams, type Sdk, type ServerParts, toResultOptions } from './sdk.ts';

// A task is a stored tool call. Its ID is that of the run: it cannot be guessed, and it counts for its principal only.
// Source: https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html

/** How long the identity of a call outlives it. */
const TTL_MS = 24 * 3600 * 1000;
const POLL_MS = 1_000;

/** Throws -32021 if only a task can answer a call of the tool, and the client has no tasks. */
export function requireTasks({ MissingRequiredClientCapabilityError }: Sdk, { hasTasks }: McpClient): void {
  if (hasTasks) return;
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

/** Tells the client that the call is a task. The run is stored. */
export async function createdTask({ runtime }: ServerParts, run: string): Promise<Result> {
  return { resultType: 'task', ...taskOf(await runtime.runs.summary(run)), status: 'working' };
}

function taskOf({ run_id, created_at, updated_at }: RunSummary) {
  return {
    taskId: run_id,
    createdAt: created_at,
    lastUpdatedAt: updated_at,
    ttlMs: TTL_MS,
    pollIntervalMs: POLL_MS,
  };
}

export function serveTasks(server: Server, parts: ServerParts): void {
  const { sdk, runtime, session } = parts;
  server.registerCapabilities({ extensions: { [tasksExtension]: {} } });
  const method = (
    name: string,
    work: (run: string, client: McpClient, context: ServerContext) => Promise<Result>,
  ) =>
    server.setRequestHandler(name, { params: anyParams }, async (params, context: ServerContext) => {
      const client = clientOf(server, context, session);
      requireTasks(sdk, client);
      const given = isObject(params) ? params : {};
      try {
        return await work(await requireTask(parts, client, given['taskId']), client, context);
      } catch (thrown) {
        if (thrown instanceof sdk.ProtocolError) throw thrown;
        const fault = toFault(thrown);
        parts.report(fault);
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, forClient(fault).message);
      }
    });
  method('tasks/get', async (run, client) => await showTask(parts, run, client));
  method('tasks/cancel', async (run, client) => {
    try {
      await runtime.runs.cancel(run, { by: client.name, reason: 'the client cancelled the task' });
    } catch (thrown) {
      if (toRuntimeError(thrown).code !== 'RUN_ENDED') throw thrown;
    }
    return {};
  });
  method('tasks/update', async (run, client, { mcpReq }) => {
    const decision = readDecision(mcpReq.inputResponses);
    const outcome = await runtime.tools.outcome(run, { waitMs: 0 });
    if (decision === undefined || outcome.status !== 'pending' || !mayDecide(parts, client)) return {};
    const refusal = await decide(runtime, { id: outcome.pending.id, client, decision });
    if (refusal !== undefined) throw invalidParams(sdk, refusal);
    return {};
  });
}

/** The handlers check params themselves, because what a client may do is checked first. */
const anyParams = {
  '~standard': {
    version: 1,
    vendor: 'signalbox',
    validate: (value: unknown) => ({ value }),
  },
} as const;

/** Another principal's task is as unknown as one that does not exist. Throws -32602. */
async function requireTask({ sdk, runtime }: ServerParts, client: McpClient, id: unknown): Promise<string> {
  if (typeof id !== 'string') throw invalidParams(sdk, '`params.taskId` must be a string');
  const principal = await runtime.runs.principal(id).catch(unlessUnknown);
  if (principal === client.principal) return id;
  throw invalidParams(sdk, `there is no task ${JSON.stringify(shorten(id))}`);
}

function unlessUnknown(thrown: unknown): null {
  if (toRuntimeError(thrown).code !== 'RUN_UNKNOWN') throw thrown;
  return null;
}

export function mayDecide({ runtime }: Pick<ServerParts, 'runtime'>, { hasForms }: McpClient): boolean {
  return hasForms && runtime.mcp.decide === 'caller';
}

/** `completed` has the result of the tool, failed and denied calls included. */
async function showTask(parts: ServerParts, run: string, client: McpClient): Promise<Result> {
  const { runtime, offered } = parts;
  const outcome = await runtime.tools.outcome(run, { waitMs: 0 });
  const shown = await runtime.runs.summary(run);
  const task = taskOf(shown);
  if (shown.status === 'cancelled') return { ...task, status: 'cancelled' };
  if (outcome.status === 'running') return { ...task, status: 'working' };
  if (outcome.status === 'pending') {
    const { id } = outcome.pending;
    const link = toResultOptions(parts).linkOf(id);
    const statusMessage = `${reasonOf(outcome.pending)}${link === undefined ? '' : ` (decide at ${link})`}`;
    const inputRequests = mayDecide(parts, client) ? await questionOf(runtime, { id, client }) : undefined;
    return inputRequests === undefined
      ? { ...task, status: 'working', statusMessage }
      : { ...task, status: 'input_required', statusMessage, inputRequests };
  }
  const { name } = shown;
  const tool = offered.get(name)?.info ?? { name, mcp: { result: null, task: null }, output_schema: null };
  const result = bounded(toResult(outcome, tool), runtime.mcp.maxMessageBytes);
  return { ...task, status: 'completed', result: { resultType: 'complete', ...result } };
}
