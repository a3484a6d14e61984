import { RuntimeError } from '../../base/errors.ts';
import type { Decision } from '../../contract/hook.ts';
import { createContradictionRefusal } from '../../models/guard/guard-outcome.ts';
import type { StreamWriter, Substitute } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall } from '../wire/refusal.ts';
import type { AnswerVerdict } from './answer-verdict.ts';
import type { AnswerWindows } from './answer-windows.ts';
import { denialOf } from './denial.ts';
import type { FrameQueue } from './frame-queue.ts';
import type { StreamedCall, StreamSettings } from './stream-call.ts';
import type { StreamLog } from './stream-log.ts';

interface OutcomeParts {
  readonly call: StreamedCall;
  readonly settings: StreamSettings;
  readonly log: StreamLog;
  readonly writer: StreamWriter;
  readonly windows: AnswerWindows | undefined;
  readonly frames: FrameQueue;
}

/** Ends a stream as its verdict says, behind what the client has already. */
export class OutcomeWriter {
  readonly #call: StreamedCall;
  readonly #settings: StreamSettings;
  readonly #log: StreamLog;
  readonly #writer: StreamWriter;
  readonly #windows: AnswerWindows | undefined;
  readonly #frames: FrameQueue;

  constructor({ call, settings, log, writer, windows, frames }: OutcomeParts) {
    this.#call = call;
    this.#settings = settings;
    this.#log = log;
    this.#writer = writer;
    this.#windows = windows;
    this.#frames = frames;
  }

  /** Throws RefusedCall where the client is to be told an error, and the signal's reason once it is aborted. */
  *write(verdict: AnswerVerdict): Generator<string, void> {
    this.#call.signal.throwIfAborted();
    switch (verdict.kind) {
      case 'refuse':
        return yield* this.#refuse(verdict.refusal);
      case 'stand-in':
        this.#log.outcome = verdict.substitute.end === 'stop' ? 'modified' : 'denied';
        return yield this.#finish(this.#substitute(verdict.substitute), verdict.by);
      case 'changed':
        this.#log.outcome = 'modified';
        return yield this.#finish(verdict.body, verdict.by);
      case 'same':
        this.#log.outcome = this.#windows?.isChanged === true ? 'modified' : 'allowed';
        if (this.#windows?.isChanged === true) yield this.#finish(verdict.body, undefined);
        else yield* this.#frames.takeAll();
    }
  }

  *#refuse(refusal: Refusal): Generator<string, void> {
    const { codec, model } = this.#call;
    const isAnswered = this.#settings.onDeny === 'answer' && isSaidAsAnswer(refusal);
    const hasText = this.#windows?.sent().length ?? 0;
    if (!isAnswered || codec.substitute === undefined || hasText > 0) throw new RefusedCall(refusal);
    this.#log.refuse(refusal);
    yield this.#finish(codec.substitute({ text: refusal.message, end: 'refused' }, model), undefined);
  }

  /** The body of a stand-in, behind the text that the client has already. */
  #substitute({ text, end }: Substitute): string {
    const { codec, model } = this.#call;
    if (codec.substitute === undefined) throw new Error(`${codec.name} has no texts as answers`);
    const sent = this.#windows?.sent().find(({ choice, member }) => choice === 0 && member === 'content');
    const before = sent === undefined ? '' : `${sent.sent}\n\n`;
    return codec.substitute({ text: before + text, end }, model);
  }

  /** Throws RefusedCall when the client has something that the answer does not begin with. */
  #finish(body: string, by: Decision | undefined): string {
    try {
      return this.#writer.finish(body);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      if (by === undefined) throw new RefusedCall(contradicted, error);
      throw new RefusedCall(denialOf(createContradictionRefusal(by), 'after_call'), error);
    }
  }
}

const contradicted: Refusal = {
  status: 400,
  code: 'content_filter',
  message: 'The whole answer does not begin with what had already gone out of it.',
  isRetryable: false,
};
