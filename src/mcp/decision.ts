import type {
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
} from '@modelcontextprotocol/server';
import { toRuntimeError } from '../base/errors.ts';
import { isObject, stringifyJson } from '../base/json/json.ts';
import { escapeInvisible, escapeInvisibleLine } from '../base/text/escape-invisible.ts';
import type { PendingInfo } from '../contract/approval.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { McpClient } from './client.ts';

/** The key of the question among the input requests of an answer. */
export const questionKey = 'decision';

export interface Question {
  readonly inputRequests: {
    readonly [questionKey]: ElicitRequest & {
      readonly params: ElicitRequestFormParams | ElicitRequestURLParams;
    };
  };
  readonly requestState: string;
}

/** What the call waits for, in one line. Text of tools and arguments cannot look like other lines of a form. */
export function reasonOf({ message, reason }: Pick<PendingInfo, 'message' | 'reason'>): string {
  return escapeInvisibleLine(message === '' ? reason : message);
}

/**
 * The form that asks the person in front of the agent. Undefined if they have no decision to make, or if the arguments
 * are too long to be shown whole.
 */
export async function questionOf(
  { pending }: Runtime,
  { id, client }: { readonly id: string; readonly client: McpClient },
): Promise<Question['inputRequests'] | undefined> {
  const waiting = await pending.show(id);
  const { tool, args } = waiting;
  const text = stringifyJson(args);
  const decisions = (['approve', 'reject'] as const).filter((choice) => waiting.choices.includes(choice));
  if (decisions.length === 0 || !isOpenFor(waiting, client.name) || text.length > MOST_CHARACTERS)
    return undefined;
  const question: Question['inputRequests'][typeof questionKey] = {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: `${reasonOf(waiting)}\nThe call: ${tool} ${escapeInvisible(text)}`,
      requestedSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', title: 'Decision', enum: [...decisions] },
          reason: { type: 'string', title: 'Reason' },
        },
        required: ['decision'],
      },
    },
  };
  return { [questionKey]: question };
}

/** Whether this person may decide, and has not approved yet where several people must. */
function isOpenFor({ deciders, approvals = [] }: PendingInfo, name: string): boolean {
  return (deciders?.includes(name) ?? true) && !approvals.some(({ by }) => by === name);
}

/** A client shows a form in a few lines, and a person must see all of the call. */
const MOST_CHARACTERS = 4_000;

/** A link that the client offers to the person in front of the agent. It decides nothing by itself. */
async function linkTo(
  { pending }: Runtime,
  { id, link }: Asked,
): Promise<Question['inputRequests'] | undefined> {
  if (link === undefined) return undefined;
  const waiting = await pending.show(id);
  const message = `${reasonOf(waiting)}\nOpen the page to decide about the call of ${escapeInvisibleLine(waiting.tool)}.`;
  // Clients of 2025 require an ID. That of the call is no credential.
  const params = { mode: 'url', message, url: link, elicitationId: id } as const;
  return { [questionKey]: { method: 'elicitation/create', params } };
}

interface Asked {
  readonly id: string;
  readonly client: McpClient;
  /** Whether the person in front of the agent may decide. */
  readonly isDecider: boolean;
  /** The page to decide on; undefined if there is none, or the client cannot open it. */
  readonly link: string | undefined;
}

/** Asks once for each call: a client that answers without a person would be asked again and again. */
export async function openQuestion(runtime: Runtime, asked: Asked): Promise<Question | undefined> {
  const form = asked.isDecider ? await questionOf(runtime, asked) : undefined;
  const inputRequests = form ?? (await linkTo(runtime, asked));
  if (inputRequests === undefined) return undefined;
  const requestState = await runtime.pending.issueTicket(asked.id);
  return requestState === undefined ? undefined : { inputRequests, requestState };
}

export interface Decision {
  readonly kind: 'approve' | 'reject';
  readonly reason: string;
}

/** Whether a person agreed to open the page. */
export function isOpened(responses: unknown): boolean {
  const response: unknown = isObject(responses) ? responses[questionKey] : undefined;
  return isObject(response) && response['action'] === 'accept';
}

/** Only `accept` with a decision decides. Anything else, such as a client that answers by itself, leaves the call open. */
export function readDecision(responses: unknown): Decision | undefined {
  const response: unknown = isObject(responses) ? responses[questionKey] : undefined;
  if (!isObject(response) || response['action'] !== 'accept') return undefined;
  const { decision: kind, reason = '' } = isObject(response['content']) ? response['content'] : {};
  if ((kind !== 'approve' && kind !== 'reject') || typeof reason !== 'string') return undefined;
  return { kind, reason };
}

/** Decides in the name of the client. Returns why it could not, unless somebody has decided meanwhile. */
export async function decide(
  { pending }: Runtime,
  { id, client, decision }: { readonly id: string; readonly client: McpClient; readonly decision: Decision },
): Promise<string | undefined> {
  const { kind, reason } = decision;
  try {
    await pending[kind](id, { by: client.name, reason });
    return undefined;
  } catch (thrown) {
    const { code, message, hint } = toRuntimeError(thrown);
    if (code === 'PENDING_DECIDED' || code === 'PENDING_EXPIRED') return undefined;
    return [`The decision was not accepted: [${code}] ${message}`, hint]
      .filter((text) => text !== '')
      .join('\n');
  }
}
