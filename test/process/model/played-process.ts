import { PassThrough } from 'node:stream';
import type { ExitStatus } from '../../../src/process/launch/launch.ts';
import type { WatchedProcess } from '../../../src/process/process.ts';

/** A session's process, as seen through its streams, which the test controls. */
export interface PlayedProcess {
  readonly process: WatchedProcess;
  readonly stdout: PassThrough;
  end(exit: ExitStatus): void;
}

export function playProcess(): PlayedProcess {
  const stdin = new PassThrough().resume();
  const stdout = new PassThrough();
  const ended = Promise.withResolvers<ExitStatus>();
  const end = (exit: ExitStatus) => {
    stdout.end();
    ended.resolve(exit);
  };
  const process: WatchedProcess = {
    ...{ pid: 1, stdin, stdout: () => stdout, ended: ended.promise },
    ...{ isStderrClosed: () => true, stderrClosed: Promise.resolve(), stderr: () => '' },
    collect: () => {
      throw new Error('a session reads the stream');
    },
    terminate: async () => end({ exitCode: null, signal: 'SIGTERM' }),
    killGroup: () => end({ exitCode: null, signal: 'SIGKILL' }),
    limitFault: () => undefined,
    startFault: () => undefined,
    keepAlive: () => {},
    release: () => {},
  };
  return { process, stdout, end };
}
