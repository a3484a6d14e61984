import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { Session } from '../../../src/process/server/session.ts';
import type { PlayedProcess } from './played-process.ts';
import { type Line, type Outcome, type SessionModel, textOf } from './session-model.ts';

export interface Subject {
  readonly session: Session;
  readonly played: PlayedProcess;
  /** The outcome of each request, in order. A second settlement would add a second word. */
  readonly outcomes: Outcome[];
  readonly callers: AbortController[];
  readonly told: { dropped: number; goodReplies: number };
}

type Command = fc.AsyncCommand<SessionModel, Subject>;

function command(
  title: string,
  run: (model: SessionModel, subject: Subject) => Promise<void> | void,
  isPossible: (model: SessionModel) => boolean = (model) => model.end === undefined,
): Command {
  return {
    toString: () => title,
    check: isPossible,
    run: async (model, subject) => {
      await run(model, subject);
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      expect(subject.outcomes).toEqual([...model.outcomes.values()]);
      expect(subject.session.inFlight).toBe(model.waiting.length);
      expect(subject.told).toEqual({ dropped: model.dropped, goodReplies: model.goodReplies });
    },
  };
}

async function ask({ session, outcomes, callers }: Subject, timeoutMs?: number): Promise<void> {
  const caller = new AbortController();
  const index = outcomes.push('waits') - 1;
  callers.push(caller);
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const settle = (outcome: Outcome) => {
    outcomes[index] = outcomes[index] === 'waits' ? outcome : `! settled twice: ${outcome}`;
    resolve();
  };
  const message = { method: 'execute', body: '{"args":{}}', ...(timeoutMs && { timeoutMs }) };
  session.ask(message, {
    signal: caller.signal,
    onReply: (reply) =>
      settle(reply.via === 'rpc' ? `= ${(reply.error ?? reply.result)?.text ?? ''}` : `! ${reply.via}`),
    onError: (error) => settle(`! ${error instanceof RuntimeError ? error.code : String(error)}`),
  });
  await settled;
}

/** Lines in one chunk, or in two that are cut at byte `cut`. */
async function write({ played: { stdout } }: Subject, lines: readonly Line[], cut: number): Promise<void> {
  const text = lines.map((line) => `${textOf(line)}\n`).join('');
  const at = Math.floor(cut * text.length);
  stdout.write(text.slice(0, at));
  if (at > 0) await nextTurn();
  stdout.write(text.slice(at));
}

const line: fc.Arbitrary<Line> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      says: fc.constantFrom('result', 'result', 'result', 'error', 'both', 'neither'),
      id: fc.integer({ min: 1, max: 8 }),
      value: fc.nat(99),
    }),
  },
  { weight: 1, arbitrary: fc.record({ says: fc.constantFrom('noise', 'anonymous') }) },
);

const asks = fc.integer({ min: 1, max: 3 }).map((count) =>
  command(`ask ${count}`, (model, subject) => {
    for (let n = 0; n < count; n += 1) {
      model.ask();
      void ask(subject);
    }
  }),
);

const timesOut = fc.constant(
  command('ask in vain', async (model, subject) => {
    model.giveUp(model.ask(), 'PROCESS_TIMEOUT');
    await ask(subject, 1);
  }),
);

const abort = fc.integer({ min: 1, max: 8 }).map((id) =>
  command(`abort ${id}`, (model, { callers }) => {
    model.giveUp(id, 'ABORTED');
    callers[id - 1]?.abort();
  }),
);

const writes = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([lines, cut]) =>
    command(`write ${lines.map(textOf).join(' ')}, cut at ${cut}`, async (model, subject) => {
      for (const each of lines) model.read(each);
      await write(subject, lines, cut);
    }),
  );

const endStdin = fc.constant(
  command('ask it to end', (model, { session }) => {
    model.isStopping = true;
    session.endStdin();
  }),
);

/** Output in transit when the process ends still counts. */
const dies = fc.array(line, { maxLength: 2 }).map((lines) =>
  command(`write ${lines.map(textOf).join(' ')} and die`, async (model, subject) => {
    for (const each of lines) model.read(each);
    model.die();
    await write(subject, lines, 0);
    subject.played.end({ exitCode: 3, signal: null });
    await subject.session.closed;
  }),
);

const askTheDead = fc.constant(
  command(
    'ask the dead',
    async (model, subject) => {
      model.outcomes.set(model.ask(), `! ${model.end ?? ''}`);
      await ask(subject);
    },
    (model) => model.end !== undefined,
  ),
);

export const sessionCommands = fc.commands(
  [asks, asks, writes, writes, writes, abort, timesOut, endStdin, dies, askTheDead],
  { maxCommands: 14, size: 'max' },
);
