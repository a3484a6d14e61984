import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import {
  type Abort,
  type Allow,
  type Answer,
  type Ask,
  type Decision,
  type Deny,
  type HookEvent,
  type Modify,
  type Respond,
  withoutFaultText,
} from '../../contract/hook.ts';
import { failedOpenIn, mergeMetadata, noMetadata } from '../../dialects/metadata.ts';
import { applyReplace, type Replaced } from './replace.ts';

/** Returns what is wrong with an event that a filter changed; undefined if it is valid. */
export type EventCheck = (event: HookEvent) => string | undefined;

export interface DecidedBy {
  readonly hook: string | null;
  readonly dialect: string;
  readonly isApproval?: boolean;
}

type StoppingAnswer = Deny | Ask | Respond | Abort;

export class HookChain {
  event: HookEvent;
  #stopped: { readonly by: DecidedBy; readonly answer: StoppingAnswer } | undefined;
  #modifier: DecidedBy | undefined;
  #approver: DecidedBy | undefined;
  #reason = '';
  #replaced: Map<string, Json> | undefined;
  #forcedBy: readonly DecidedBy[] = nothing;
  #metadata: readonly Json[] = nothing;
  #context: readonly string[] = nothing;

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

  /** Throws REPLY_MALFORMED if a replacement does not fit the event. */
  takeAnswer(by: DecidedBy, answer: Allow | Modify, check: EventCheck | undefined): void {
    if (answer.verdict === 'modify') this.#modify(by, answer, check);
    else if (by.isApproval === true) this.#approver = by;
    this.#add(answer);
    if (answer.reason !== '') this.#reason = answer.reason;
  }

  stop(by: DecidedBy, answer: StoppingAnswer): void {
    const { context = nothing } = answer;
    this.#add({ context });
    this.#stopped ??= { by, answer };
  }

  takeApproved(answer: Ask): void {
    this.#add(answer);
  }

  /** Most answers say nothing, and then there is nothing to keep. */
  #add({ metadata, context = nothing }: Partial<Pick<Answer, 'metadata' | 'context'>>): void {
    if (metadata !== undefined && metadata.text !== noMetadata.text)
      this.#metadata = [...this.#metadata, metadata];
    if (context.length > 0) this.#context = [...this.#context, ...context];
  }

  #modify(by: DecidedBy, { replace }: Modify, check: EventCheck | undefined): void {
    const { event, parts } = replaceOrRefuse(this.event, replace);
    const problem = check?.(event);
    if (problem !== undefined) throw new RuntimeError('REPLY_MALFORMED', problem);
    this.event = event;
    this.#modifier = by;
    for (const [key, part] of parts) {
      if (event.phase === 'stop' && key === 'follow_up') this.#force(by, part);
      else this.#put(key, part);
    }
  }

  #force(by: DecidedBy, text: Json): void {
    const before = this.#replaced?.get('follow_up');
    this.#forcedBy = [...this.#forcedBy, by];
    const texts = [before, text].flatMap((each) => (each === undefined ? [] : [String(each.value)]));
    this.#put('follow_up', Json.from(texts.join('\n\n')));
  }

  #put(key: string, part: Json): void {
    this.#replaced ??= new Map();
    this.#replaced.set(key, part);
  }

  get forcedBy(): readonly DecidedBy[] {
    return this.#forcedBy;
  }

  decide(): Decision {
    const modified = this.#modifier !== undefined;
    const replace = modified ? Json.from(Object.fromEntries(this.#replaced ?? [])) : null;
    if (this.#stopped !== undefined) {
      const { by, answer } = this.#stopped;
      const metadata = withFailedOpen(answer.metadata, this.#metadata);
      return decideStopped(
        by,
        { ...answer, metadata },
        { event: this.event, context: this.#context, replace },
      );
    }
    const decider = this.#modifier ?? this.#approver;
    const isSilent = this.#metadata.length === 0 && this.#context.length === 0 && this.#reason === '';
    if (decider === undefined && isSilent) return allowed;
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

const nothing: readonly never[] = [];

export const allowed: Decision = {
  ...{ verdict: 'allow', hook: null, dialect: null, reason: '', enforced: false },
  ...{ replace: null, result: null, context: [], abort: null, metadata: noMetadata },
};

function withFailedOpen(metadata: Json, before: readonly Json[]): Json {
  const failures = before.filter((each) => failedOpenIn(each).length > 0);
  if (failures.length === 0) return metadata;
  const { failed_open } = membersOf(mergeMetadata([...failures, metadata]));
  return Json.from({ ...membersOf(metadata), failed_open });
}

function replaceOrRefuse(event: HookEvent, replace: Json): Replaced {
  try {
    return applyReplace(event, replace);
  } catch (error) {
    throw toRuntimeError(error, 'REPLY_MALFORMED');
  }
}

const withheldText = 'This response was withheld by a guardrail.';

interface ChainState {
  readonly event: HookEvent;
  readonly context: readonly string[];
  readonly replace: Json | null;
}

function decideStopped(
  by: DecidedBy,
  answer: StoppingAnswer,
  { event, context, replace }: ChainState,
): Decision {
  const decision = { ...decisionOf(by, answer), context };
  if (decision.replace !== null) return { ...decision, replace };
  // Only a model's answer has a stand-in; an enforced denial of a tool phase is a plain one.
  if (answer.verdict !== 'deny' || !answer.enforced || event.hook !== 'provider') return decision;
  return { ...decision, enforced: true, result: Json.from(standIn(answer.metadata)) };
}

export function decisionOf({ hook, dialect }: Pick<Decision, 'hook' | 'dialect'>, given: Answer): Decision {
  const answer = withoutFaultText(given);
  const { verdict, reason, metadata, context = [] } = answer;
  const error = verdict === 'deny' || verdict === 'abort' ? answer.error : undefined;
  return {
    ...{ verdict, hook, dialect, reason, enforced: false },
    replace: verdict === 'modify' || verdict === 'ask' ? (answer.replace ?? null) : null,
    result: verdict === 'respond' ? answer.result : null,
    context,
    abort: verdict === 'abort' ? answer.scope : null,
    metadata,
    ...(error && { error }),
  };
}

function standIn(metadata: Json): string {
  const { value } = metadata;
  const replacement = isObject(value) ? value['replacement'] : undefined;
  return typeof replacement === 'string' ? replacement : withheldText;
}
