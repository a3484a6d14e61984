import { createHash, randomUUID } from 'node:crypto';
import { currentClock } from '../base/time/stopwatch.ts';
import type { HookSet } from '../calls/hooks/links.ts';
import type { ModelExchange } from '../contract/decision.ts';
import type { OperationEnd } from '../contract/event.ts';
import type { Decision } from '../contract/hook.ts';
import {
  currentOperation,
  endOfError,
  type Operation,
  startOperation,
  tracksOperations,
} from '../contract/operation.ts';
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

export interface CallOfCaller extends IncomingCall {
  readonly caller: Caller;
}

interface GuardedCall extends CallOfCaller {
  readonly hooks: HookSet;
}

export interface RequestedCall extends GuardedCall {
  readonly request: WireRequest;
}

export interface ReadCall extends RequestedCall, Turn {}

interface CallEnd {
  readonly status: number;
  /** The outcome unless a hook denied or changed the call. */
  readonly outcome: 'allowed' | 'failed' | 'aborted' | 'refused';
  /** The body sent to the client; undefined if it was not recorded. */
  readonly answer?: string | RecordedAnswer | undefined;
  /** The code and message that the client gets. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

export class CallAccount {
  readonly id = `call_${randomUUID()}`;
  readonly #services: Pick<GatewayServices, 'audit' | 'config' | 'emit' | 'keepCall'>;
  readonly #endpoint: EndpointName;
  readonly #startedAt = Date.now();
  readonly #started = performance.now();
  readonly #verdicts: AuditedVerdict[] = [];
  #hooksMs = 0;
  #upstreamMs = 0;
  #lease: Lease | undefined;
  #hasEnded = false;
  #wasSent = false;
  /** Whether an earlier upstream failed but may have charged for the call. */
  #mayOwe = false;
  #exchange: ModelExchange | undefined;
  /** The IDs of the providers that were called, in order. */
  readonly asked: string[] = [];
  provider: string | undefined;
  caller: Caller | undefined;
  offered: OfferedModel | undefined;
  model = '';
  isStream = false;
  request = '';
  usage: TokenUsage | undefined;
  upstreamStatus: number | undefined;

  /** Undefined if no operation is tracked. */
  readonly operation: Operation | undefined;

  constructor(
    services: Pick<GatewayServices, 'audit' | 'config' | 'emit' | 'keepCall'>,
    endpoint: EndpointName,
  ) {
    this.#services = services;
    this.#endpoint = endpoint;
    const about = { operation: 'gateway', name: endpoint, call: this.id } as const;
    this.operation = tracksOperations(services.emit) ? startOperation(services.emit, about) : undefined;
  }

  get countsTokens(): boolean {
    const { audit } = this.#services;
    return audit !== undefined || this.operation !== undefined || this.caller?.keyId != null;
  }

  startRecord(): AnswerRecord | undefined {
    return this.#services.audit && new AnswerRecord(this.#keepsContent);
  }

  hold(lease: Lease): void {
    this.#lease = lease;
  }

  decided(phase: string, decision: Decision): void {
    this.#verdicts.push(toAuditedVerdict(phase, decision));
  }

  /** Records the request as the hooks left it. */
  sent(request: ModelExchange['request']): void {
    this.#exchange = { request, answers: [], origin: currentOperation() };
  }

  /** Changes what is recorded of the request. */
  noteExchange(change: (known: ModelExchange) => Partial<ModelExchange>): void {
    if (this.#exchange !== undefined) this.#exchange = { ...this.#exchange, ...change(this.#exchange) };
  }

  turnTo(offered: OfferedModel): void {
    if (this.#wasSent && !this.#isFree) this.#mayOwe = true;
    this.#wasSent = false;
    this.upstreamStatus = undefined;
    this.usage = undefined;
    this.offered = offered;
  }

  async time<Result>(what: 'hooks' | 'upstream', work: () => Promise<Result>): Promise<Result> {
    const from = performance.now();
    const clock = what === 'upstream' ? currentClock() : undefined;
    clock?.change('upstream', 1);
    if (what === 'upstream') this.#wasSent = true;
    try {
      return await work();
    } catch (thrown) {
      if (what === 'upstream' && wasNotSent(thrown)) this.#wasSent = false;
      throw thrown;
    } finally {
      clock?.change('upstream', -1);
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

  /** Later calls do nothing. Rejects with RefusedCall if a required row fails; the response must not end then. */
  async end(end: CallEnd): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#exchange !== undefined) this.#services.keepCall?.(this.#exchange);
    try {
      await this.#lease?.end(this.#wasSent || this.#mayOwe ? this.#used() : undefined);
      // Calls without a valid key get no row. Otherwise any client could fill the disk.
      const { audit } = this.#services;
      if (audit !== undefined && this.caller !== undefined) await audit.write(this.#record(end, this.caller));
    } catch (thrown) {
      this.operation?.finish(endOfError(thrown));
      throw thrown;
    }
    this.operation?.finish(this.#operationEnd(end));
  }

  #operationEnd({ status: httpStatus, outcome, error }: CallEnd): OperationEnd {
    const { usage, provider, offered, isStream } = this;
    const isPending = error?.code === 'pending_approval';
    return {
      status: isPending ? 'pending' : operationStatus[this.#outcomeOf(outcome)],
      ...{ httpStatus, isStreamed: isStream },
      // A client that has left gets no error.
      error: outcome === 'aborted' ? undefined : error,
      ...(offered !== undefined && { model: this.model }),
      ...(offered && provider !== undefined && { answeredBy: { provider, model: offered.upstreamName } }),
      ...(usage && {
        inputTokens: usage.input,
        outputTokens: usage.output,
        ...(usage.cachedInput !== undefined && { cachedTokens: usage.cachedInput }),
        costUsd: this.#cost(),
      }),
    };
  }

  get #keepsContent(): boolean {
    return this.#services.config.audit?.content === true;
  }

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
      // Other names are arbitrary client text.
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

const operationStatus: Readonly<Record<AuditRecord['outcome'], OperationEnd['status']>> = {
  ...{ allowed: 'ok', modified: 'ok', denied: 'denied' },
  ...{ failed: 'failed', refused: 'failed', aborted: 'cancelled' },
};

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** For a failed hook the reason is the error code, because the hook's output may quote the payload. */
function toAuditedVerdict(phase: string, { verdict, hook, reason, error }: Decision): AuditedVerdict {
  return { phase, verdict, hook, reason: error === undefined ? reason : error.code };
}

export interface RecordedAnswer {
  /** SHA-256, in hex. */
  readonly digest: string;
  /** Undefined unless content is stored. */
  readonly text: string | undefined;
}

/** Records a streamed response. Memory use is constant unless content is stored. */
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

  /** Returns the record of everything pushed before the first call of `end`. */
  end(): RecordedAnswer {
    this.#ended ??= { digest: this.#hash.copy().digest('hex'), text: this.#texts?.join('') };
    return this.#ended;
  }
}

function recordAnswer(text: string, isContentKept: boolean): RecordedAnswer {
  const record = new AnswerRecord(isContentKept);
  record.push(text);
  return record.end();
}
