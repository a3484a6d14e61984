import { createHash, randomUUID } from 'node:crypto';
import type { HookSet } from '../calls/hooks/links.ts';
import type { Decision } from '../contract/hook.ts';
import { costOf } from '../models/spending/cost.ts';
import type {
  AuditedVerdict,
  AuditRecord,
  Caller,
  ClientCall,
  GatewayServices,
  Lease,
  Turn,
  Used,
} from './ports.ts';
import { type OfferedModel, wasNotSent } from './upstream/upstream.ts';
import type { EndpointName, TokenUsage, WireRequest } from './wire/codec.ts';

interface IncomingCall {
  readonly client: ClientCall;
  readonly services: GatewayServices;
  readonly account: CallAccount;
}

/** A call whose caller is known. */
export interface CallOfCaller extends IncomingCall {
  readonly caller: Caller;
}

/** A call that hooks hear of. */
interface GuardedCall extends CallOfCaller {
  readonly hooks: HookSet;
}

/** A guarded call whose request was read. */
export interface RequestedCall extends GuardedCall {
  readonly request: WireRequest;
}

/** A read call as it is for one upstream. */
export interface ReadCall extends RequestedCall, Turn {}

interface CallEnd {
  readonly status: number;
  /** Of a call that no hook denied or changed. */
  readonly outcome: 'allowed' | 'failed' | 'aborted' | 'refused';
  /** The body that the client got; undefined where nobody recorded it. */
  readonly answer?: string | RecordedAnswer | undefined;
}

/** What a call used and what was decided on it, for its key's limits and for the audit. */
export class CallAccount {
  readonly id = `call_${randomUUID()}`;
  readonly #services: Pick<GatewayServices, 'audit' | 'config'>;
  readonly #endpoint: EndpointName;
  readonly #startedAt = Date.now();
  readonly #started = performance.now();
  readonly #verdicts: AuditedVerdict[] = [];
  #hooksMs = 0;
  #upstreamMs = 0;
  #lease: Lease | undefined;
  #hasEnded = false;
  /** Of the upstream that was called, if one was. */
  #wasSent = false;
  /** Whether an upstream that failed before it may have been paid all the same. */
  #mayOwe = false;
  /** The ids of the providers that were asked, in turn. */
  readonly asked: string[] = [];
  /** The id of the provider whose answer it is. */
  provider: string | undefined;
  caller: Caller | undefined;
  offered: OfferedModel | undefined;
  model = '';
  isStream = false;
  /** The body as the client sent it. */
  request = '';
  usage: TokenUsage | undefined;
  /** Of the upstream's answer, once it has begun. */
  upstreamStatus: number | undefined;

  constructor(services: Pick<GatewayServices, 'audit' | 'config'>, endpoint: EndpointName) {
    this.#services = services;
    this.#endpoint = endpoint;
  }

  /** Whether somebody asks for the tokens of an answer. */
  get countsTokens(): boolean {
    return this.#services.audit !== undefined || this.caller?.keyId != null;
  }

  /** Records an answer for the audit, piece by piece; undefined where there is none. */
  startRecord(): AnswerRecord | undefined {
    return this.#services.audit && new AnswerRecord(this.#keepsContent);
  }

  hold(lease: Lease): void {
    this.#lease = lease;
  }

  decided(phase: string, decision: Decision): void {
    this.#verdicts.push(toAuditedVerdict(phase, decision));
  }

  /** From now on another upstream is asked for the model. */
  turnTo(offered: OfferedModel): void {
    if (this.#wasSent && !this.#isFree) this.#mayOwe = true;
    this.#wasSent = false;
    this.upstreamStatus = undefined;
    this.usage = undefined;
    this.offered = offered;
  }

  /** Counts the time of hooks, or of the upstream. */
  async time<Result>(what: 'hooks' | 'upstream', work: () => Promise<Result>): Promise<Result> {
    const from = performance.now();
    if (what === 'upstream') this.#wasSent = true;
    try {
      return await work();
    } catch (thrown) {
      if (what === 'upstream' && wasNotSent(thrown)) this.#wasSent = false;
      throw thrown;
    } finally {
      const took = performance.now() - from;
      if (what === 'hooks') this.#hooksMs += took;
      else this.#upstreamMs += took;
    }
  }

  /** Adds the times of a stream, in milliseconds. */
  tookStream({ total, hooks }: { readonly total: number; readonly hooks: number }): void {
    this.#hooksMs += hooks;
    this.#upstreamMs += Math.max(0, total - hooks);
  }

  /**
   * Settles the call: gives its place back, and keeps its row. Once. Rejects with RefusedCall when the row cannot be kept and
   * has to be; then the end of the answer must not go out.
   */
  async end(end: CallEnd): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#lease?.end(this.#wasSent || this.#mayOwe ? this.#used() : undefined);
    // Of strangers no row is kept: whoever can connect could fill the disk with them.
    const { audit } = this.#services;
    if (audit !== undefined && this.caller !== undefined) await audit.write(this.#record(end, this.caller));
  }

  get #keepsContent(): boolean {
    return this.#services.config.audit?.content === true;
  }

  /** An error of the upstream is not charged for, unless it says otherwise. */
  get #isFree(): boolean {
    return this.usage === undefined && (this.upstreamStatus ?? 0) >= 400;
  }

  #used(): Used {
    if (this.#isFree && !this.#mayOwe) {
      return { usage: { input: 0, output: 0 }, cost: 0 };
    }
    return { usage: this.usage, cost: this.#cost() };
  }

  #cost(): number | null {
    return this.usage === undefined ? null : costOf(this.usage, this.offered?.provider.pricing);
  }

  #record({ status, outcome, answer }: CallEnd, caller: Caller): AuditRecord {
    const { id, usage, isStream, request } = this;
    const recorded = typeof answer === 'string' ? recordAnswer(answer, this.#keepsContent) : answer;
    return {
      id,
      at: this.#startedAt,
      keyId: caller.keyId,
      caller: caller.name,
      endpoint: this.#endpoint,
      // Any other name is a text of the client's.
      model: this.offered === undefined ? '' : this.model,
      asked: this.asked,
      provider: this.provider ?? null,
      isStream,
      status,
      outcome: this.#outcomeOf(outcome),
      verdicts: this.#verdicts,
      requestDigest: digest(request),
      answerDigest: recorded?.digest ?? null,
      usage,
      cost: this.#cost(),
      times: {
        total: performance.now() - this.#started,
        hooks: this.#hooksMs,
        upstream: this.#upstreamMs,
      },
      content: this.#keepsContent ? { request, answer: recorded?.text ?? '' } : undefined,
    };
  }

  #outcomeOf(outcome: CallEnd['outcome']): AuditRecord['outcome'] {
    if (outcome === 'aborted') return outcome;
    const verdicts = this.#verdicts.map(({ verdict }) => verdict);
    if (verdicts.some((verdict) => verdict !== 'allow' && verdict !== 'modify')) return 'denied';
    if (outcome === 'allowed' && verdicts.includes('modify')) return 'modified';
    return outcome;
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * What the audit keeps of a decision. The reason is the hook's own; of a hook that failed it is the code of the fault alone, since
 * its output may quote what it was shown.
 */
function toAuditedVerdict(phase: string, { verdict, hook, reason, error }: Decision): AuditedVerdict {
  return { phase, verdict, hook, reason: error === undefined ? reason : error.code };
}

/** The body of an answer as the audit has it. */
export interface RecordedAnswer {
  /** SHA-256, in hex. */
  readonly digest: string;
  /** Undefined where no content is kept. */
  readonly text: string | undefined;
}

/** Records an answer that goes by in pieces, in memory that does not grow with it unless its content is kept. */
export class AnswerRecord {
  readonly #hash = createHash('sha256');
  readonly #decoder = new TextDecoder();
  readonly #texts: string[] | undefined;
  #ended: RecordedAnswer | undefined;

  constructor(isContentKept: boolean) {
    this.#texts = isContentKept ? [] : undefined;
  }

  push(piece: string | Uint8Array): void {
    this.#hash.update(piece);
    if (this.#texts === undefined) return;
    this.#texts.push(typeof piece === 'string' ? piece : this.#decoder.decode(piece, { stream: true }));
  }

  /** What went by until it was first asked for. */
  end(): RecordedAnswer {
    this.#ended ??= { digest: this.#hash.copy().digest('hex'), text: this.#texts?.join('') };
    return this.#ended;
  }
}

/** The record of a whole text. */
function recordAnswer(text: string, isContentKept: boolean): RecordedAnswer {
  const record = new AnswerRecord(isContentKept);
  record.push(text);
  return record.end();
}
