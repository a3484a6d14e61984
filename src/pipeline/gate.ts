import type { Follower } from '../capability/follower.ts';
import { askHook, type FilterPort } from '../capability/hook.ts';
import type {
  Allow,
  Answer,
  Ask,
  Decision,
  Deny,
  HookEvent,
  HookKind,
  Modify,
  Phase,
} from '../contract/hook.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json.ts';
import { applyReplace, mergeObjects, type Replaced } from './replace.ts';

/** A hook in its place in the chain. */
export interface Link {
  readonly name: string;
  readonly dialect: string;
  readonly kind: HookKind;
  readonly phases: readonly Phase[];
  readonly listener:
    | { readonly mode: 'filter'; readonly port: FilterPort }
    | { readonly mode: 'observe'; readonly follower: Follower }
    | { readonly mode: 'shadow'; readonly follower: Follower; readonly port: FilterPort };
}

export interface Passage {
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  /** Says what is wrong with an event that a filter has changed; undefined when nothing is. */
  readonly check?: ((event: HookEvent) => string | undefined) | undefined;
  /** Whether a person has answered this hook's question about the event as it stands: it then counts as allowed. */
  readonly hasConsent?: ((hook: string, event: HookEvent) => boolean) | undefined;
  /** Leaves observers and shadows out, which hear of the event another time. */
  readonly filtersOnly?: boolean | undefined;
  /** Told what each filter answered, and in how many milliseconds. */
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], durationMs: number) => void) | undefined;
}

/** What a chain came to, and the event as its filters left it. */
export interface Passed {
  readonly decision: Decision;
  readonly event: HookEvent;
}

/**
 * Takes an event through every hook of its phase, in the order of the file. Filters are asked one after
 * another, each seeing what the last one left, until one denies or asks; observers and shadows hear of the event as
 * it stands at their place, also behind a denial, and nobody waits for them. Never rejects.
 */
export async function passGate(links: readonly Link[], event: HookEvent, passage: Passage): Promise<Passed> {
  const here = links.filter(({ kind, phases }) => kind === event.hook && phases.includes(event.phase));
  const chain = new Chain(event);
  for (const link of here) {
    const { listener } = link;
    const { call, signal, check, hasConsent, filtersOnly, onAnswer } = passage;
    if (listener.mode !== 'filter') {
      if (filtersOnly !== true) listener.follower.tell(chain.event, call);
    } else if (chain.stop === undefined) {
      const invocation = { input: chain.event, call, signal };
      const askedAt = performance.now();
      const answer = await askHook(listener.port, invocation, (affirmed) =>
        chain.take(link, affirmed, check),
      );
      onAnswer?.(link.name, answer.verdict, performance.now() - askedAt);
      if (answer.verdict === 'ask' && hasConsent?.(link.name, chain.event)) chain.consent(answer);
      else if (answer.verdict === 'deny' || answer.verdict === 'ask') chain.stop = { link, answer };
    }
  }
  return { decision: chain.decide(), event: chain.event };
}

/** The state of one event on its way through the filters. */
class Chain {
  event: HookEvent;
  /** The answer that ended the chain. */
  stop: { readonly link: Link; readonly answer: Deny | Ask } | undefined;
  #modifier: Link | undefined;
  #reason = '';
  readonly #replaced = new Map<string, Json>();
  readonly #metadata: Json[] = [];

  constructor(event: HookEvent) {
    this.event = event;
  }

  /** Throws REPLY_MALFORMED when a replacement does not fit the event. */
  take(link: Link, answer: Allow | Modify, check: Passage['check']): void {
    if (answer.verdict === 'modify') this.#modify(link, answer, check);
    this.#metadata.push(answer.metadata);
    if (answer.reason !== '') this.#reason = answer.reason;
  }

  /** A question that a person has answered lets the event pass. */
  consent({ metadata }: Ask): void {
    this.#metadata.push(metadata);
  }

  #modify(link: Link, { replace }: Modify, check: Passage['check']): void {
    const { event, parts } = replaceOrRefuse(this.event, replace);
    const problem = check?.(event);
    if (problem !== undefined) throw new RuntimeError('REPLY_MALFORMED', problem);
    this.event = event;
    this.#modifier = link;
    for (const [key, part] of parts) this.#replaced.set(key, part);
  }

  decide(): Decision {
    if (this.stop !== undefined) return decideStopped(this.stop.link, this.stop.answer, this.event);
    const modified = this.#modifier !== undefined;
    return {
      verdict: modified ? 'modify' : 'allow',
      hook: this.#modifier?.name ?? null,
      dialect: this.#modifier?.dialect ?? null,
      reason: this.#reason,
      enforced: false,
      replace: modified ? Json.from(Object.fromEntries(this.#replaced)) : null,
      result: null,
      metadata: mergeObjects(this.#metadata),
    };
  }
}

function replaceOrRefuse(event: HookEvent, replace: Json): Replaced {
  try {
    return applyReplace(event, replace);
  } catch (error) {
    throw toRuntimeError(error, 'REPLY_MALFORMED');
  }
}

const withheld = 'This response was withheld by a guardrail.';

function decideStopped(link: Link, answer: Deny | Ask, event: HookEvent): Decision {
  // Only a model's answer has a stand-in; at a tool's phases an enforced denial is a plain one.
  const enforced = answer.verdict === 'deny' && answer.enforced && event.hook === 'provider';
  return {
    verdict: answer.verdict,
    hook: link.name,
    dialect: link.dialect,
    reason: answer.reason,
    enforced,
    replace: null,
    result: enforced ? standIn(answer.metadata) : null,
    metadata: answer.metadata,
    ...(answer.verdict === 'deny' && answer.error && { error: answer.error }),
  };
}

function standIn(metadata: Json): string {
  const { value } = metadata;
  const replacement = isObject(value) ? value['replacement'] : undefined;
  return typeof replacement === 'string' ? replacement : withheld;
}
