import { expect, onTestFinished, test } from 'vitest';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { acquireWatcher } from '../../../src/process/launch/process-groups.ts';
import { startProcess } from '../../../src/process/process.ts';
import { openSession } from '../../../src/process/server/session.ts';
import { bindQuick, faultOf } from '../harness.ts';

const message = { method: 'execute', body: '{"args":{"die":7}}' };

test('requests to an ended session fail at once, like those in flight', async () => {
  onTestFinished(acquireWatcher(() => {}));
  const context = { launch: await openLauncher('auto'), emit: () => {} };
  const process = await startProcess(bindQuick(), context, null);
  const session = openSession(bindQuick(), context, {
    process,
    onGoodReply: () => {},
    mayAnswerNotifications: false,
  });
  const ask = () =>
    new Promise<unknown>((onReply, onError) => session.ask(message, { signal: undefined, onReply, onError }));
  const inFlight = await faultOf(ask());
  await session.closed;
  expect(inFlight.code).toBe('SERVER_EXIT');
  expect(await faultOf(ask())).toBe(inFlight);
  expect(() => session.request(message)).toThrow(inFlight);
  expect(() => session.notify(message)).toThrow(inFlight);
  expect(session.inFlight).toBe(0);
});
