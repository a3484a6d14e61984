import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { openSession } from '../../../src/process/server/session.ts';
import { bindQuick } from '../harness.ts';
import { playProcess } from './played-process.ts';
import { type Subject, sessionCommands } from './session-commands.ts';
import { SessionModel } from './session-model.ts';

const launch = await openLauncher('auto');

function openPlayed(): Subject {
  const told = { dropped: 0, goodReplies: 0 };
  const played = playProcess();
  const context = {
    launch,
    emit: ({ type }: { readonly type: string }) => {
      if (type === 'dropped') told.dropped += 1;
    },
  };
  const session = openSession(bindQuick({ timeoutMs: 600_000 }), context, {
    process: played.process,
    onGoodReply: () => {
      told.goodReplies += 1;
    },
    mayAnswerNotifications: false,
  });
  return { session, played, told, outcomes: [], callers: [] };
}

test('in any order of replies, late ones, duplicates, deaths, aborts and time limits, each request gets exactly its outcome', async () => {
  let commands = 0;
  await fc.assert(
    fc.asyncProperty(sessionCommands, async (given) => {
      const real = openPlayed();
      const model = new SessionModel();
      await fc.asyncModelRun(() => ({ model, real }), given);
      commands += [...given].length;
      real.played.end({ exitCode: 0, signal: null });
      await real.session.closed;
      expect(real.outcomes).not.toContain('waits');
    }),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? 2_000) },
  );
  expect(commands).toBeGreaterThan(0);
});
