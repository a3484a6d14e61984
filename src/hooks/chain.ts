import type { Abort, Allow, Ask, Decision, Deny, HookEvent, Modify, Respond } from '../contract/hook.ts';
import { failuresIn, mergeMetadata } from '../dialects/metadata.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { partsOf } from '../json/scan.ts';
import { applyReplace, type Replaced } from './replace.ts';

/** Says what is wrong with an event that a filter has changed; undefined when nothing is. */
export type Check = (event: HookEvent) => string | undefined;

/** Who answered: the hook and its dialect. */
export interface By {
  readonly hook: string | null;
  readonly dialect: string;
  /** Whether its `allow` is an approval in so many words. */
  readonly isApproval?: boolean;
}

type Stop = Deny | Ask | Respond | Abort;

/** The state of one event on its way through the filters. */
export class Chain {
  event: HookEvent;
  /** The answer that ended the chain. */
  #stopped: { readonly by: By; readonly answer: Stop } | undefined;
  #modifier: By | undefined;
  /** Who said yes where saying nothing is none. */
  #approver: By | undefined;
  #reason = '';
  readonly #replaced = new Map<string, Json>();
  /** Who has forced a further turn. */
  readonly #forcedBy: By[] = [];
  readonly #metadata: Json[] = [];
  readonly #context: string[] = [];

  constructor(event: HookEvent) {
    this.event = event;
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  get respond(): Respond | undefined {
    const answer = this.#stopped?.answer;
    return answer?.verdict === 'respond' ? answer : undefined;
  }

  /** Throws REPLY_MALFORMED when a replacement does not fit the event. */
  take(by: By, answer: Allow | Modify, check: Check | undefined): void {
    if (answer.verdict === 'modify') this.#modify(by, answer, check);
    else if (by.isApproval === true) this.#approver = by;
    this.#metadata.push(answer.metadata);
    this.#context.push(...(answer.context ?? []));
    if (answer.reason !== '') this.#reason = answer.reason;
  }

  stop(by: By, answer: Stop): void {
    this.#context.push(...(answer.context ?? []));
    this.#stopped ??= { by, answer };
  }

  /** A question that a person has answered lets the event pass. */
  consent({ metadata, context = [] }: Ask): void {
    this.#metadata.push(metadata);
    this.#context.push(...context);
  }

  #modify(by: By, { replace }: Modify, check: Check | undefined): void {
    const { event, parts } = replaceOrRefuse(this.event, replace);
    const problem = check?.(event);
    if (problem !== undefined) throw new RuntimeError('REPLY_MALFORMED', problem);
    this.event = event;
    this.#modifier = by;
    for (const [key, part] of parts) {
      if (event.phase === 'stop' && key === 'follow_up') this.#force(by, part);
      else this.#replaced.set(key, part);
    }
  }

  /** The model reads what all of them want, one below the other. */
  #force(by: By, text: Json): void {
    const before = this.#replaced.get('follow_up');
    this.#forcedBy.push(by);
    const texts = [before, text].flatMap((each) => (each === undefined ? [] : [String(each.value)]));
    this.#replaced.set('follow_up', Json.from(texts.join('\n\n')));
  }

  get forcedBy(): readonly By[] {
    return this.#forcedBy;
  }

  decide(): Decision {
    const modified = this.#modifier !== undefined;
    const replace = modified ? Json.from(Object.fromEntries(this.#replaced)) : null;
    if (this.#stopped !== undefined) {
      const { by, answer } = this.#stopped;
      const metadata = withFailures(answer.metadata, this.#metadata);
      return decideStopped(
        by,
        { ...answer, metadata },
        { event: this.event, context: this.#context, replace },
      );
    }
    const decider = this.#modifier ?? this.#approver;
    return {
      verdict: modified ? 'modify' : 'allow',
      hook: decider?.hook ?? null,
      dialect: decider?.dialect ?? null,
      reason: this.#reason,
      enforced: false,
      replace,
      result: null,
      context: this.#context,
      abort: null,
      metadata: mergeMetadata(this.#metadata),
    };
  }
}

/** What failed open before is told of beside what stopped the event. */
function withFailures(metadata: Json, before: readonly Json[]): Json {
  const failures = before.filter((each) => failuresIn(each).length > 0);
  if (failures.length === 0) return metadata;
  const { failed_open } = partsOf(mergeMetadata([...failures, metadata]));
  return Json.from({ ...partsOf(metadata), failed_open });
}

function replaceOrRefuse(event: HookEvent, replace: Json): Replaced {
  try {
    return applyReplace(event, replace);
  } catch (error) {
    throw toRuntimeError(error, 'REPLY_MALFORMED');
  }
}

const withheld = 'This response was withheld by a guardrail.';

interface Left {
  readonly event: HookEvent;
  readonly context: readonly string[];
  readonly replace: Json | null;
}

function decideStopped(by: By, answer: Stop, { event, context, replace }: Left): Decision {
  const { verdict, reason, metadata } = answer;
  // Only a model's answer has a stand-in; at a tool's phases an enforced denial is a plain one.
  const enforced = verdict === 'deny' && answer.enforced && event.hook === 'provider';
  const error = verdict === 'deny' || verdict === 'abort' ? answer.error : undefined;
  return {
    verdict,
    hook: by.hook,
    dialect: by.dialect,
    reason,
    enforced,
    // What a person is asked about is the event as it stands.
    replace: verdict === 'ask' && answer.replace !== undefined ? replace : null,
    result: verdict === 'respond' ? answer.result : enforced ? Json.from(standIn(metadata)) : null,
    context,
    abort: verdict === 'abort' ? answer.scope : null,
    metadata,
    ...(error && { error }),
  };
}

function standIn(metadata: Json): string {
  const { value } = metadata;
  const replacement = isObject(value) ? value['replacement'] : undefined;
  return typeof replacement === 'string' ? replacement : withheld;
}
