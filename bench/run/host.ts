import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Way } from './line.ts';
import type { Answer, Took } from './worker.ts';

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** Longer than any run takes. */
const patienceMs = 170_000;

/** A contender in its own process. */
export interface Host {
  run(count: number): Promise<Took>;
  close(): Promise<void>;
}

/** Starts a process for one way and waits until its contender is open. */
export async function host(way: Way): Promise<Host> {
  const child = fork(worker, {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(way);
  try {
    await hear(child, way);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    run: async (count) => {
      child.send(count);
      const answer = await hear(child, way);
      if (!('took' in answer)) throw new Error(`${way.name} said nothing of what it took`);
      return answer.took;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.connected) child.send('close');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Returns the next message of the process. Throws if it reports a failure, the process exits, or it takes too long. */
function hear(child: ChildProcess, { name }: Way): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (result: Answer | string) => {
      clearTimeout(timer);
      child.removeListener('message', onMessage);
      child.removeListener('exit', onExit);
      if (typeof result === 'string') reject(new Error(`${name}: ${result}`));
      else resolve(result);
    };
    const onMessage = (answer: Answer) => settle('failed' in answer ? answer.failed : answer);
    const onExit = (code: number | null, signal: string | null) => settle(`ended with ${code ?? signal}`);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      settle(`did not answer within ${patienceMs / 1000} s`);
    }, patienceMs);
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
