import type { LaunchRequest } from '../launch.ts';
import { errorName, type Libc, STRUCT_BYTES } from './libc.ts';
import { encodeStrings } from './string-list.ts';

/** Starts processes with posix_spawn. */
export interface Spawner {
  /** Starts a process with those descriptors as its standard streams and what follows them; its number. Rejects with the system's error code. */
  spawn(request: LaunchRequest, standard: readonly number[]): Promise<number>;
}

/**
 * With `inBackground` each call runs on a thread of libuv's, since posix_spawn waits until the child runs its program; else
 * at once, in this thread.
 */
export function createSpawner(libc: Libc, { inBackground }: { readonly inBackground: boolean }): Spawner {
  const texts = createTexts(libc);
  const idle: Frame[] = [];
  return {
    spawn: async (request, standard) => {
      const frame = idle.pop() ?? createFrame();
      const { command, cwd } = request;
      fillActions(libc, frame, standard, cwd);
      const path = Buffer.from(`${command}\0`);
      const args = [
        frame.pid,
        path,
        frame.actions,
        libc.attributes,
        texts.argv(request),
        texts.envp(request),
      ];
      try {
        const error: number = inBackground ? await callInBackground(libc, args) : libc.spawn(...args);
        if (error !== 0) throw new Error(errorName(error));
        return frame.pid[0] ?? 0;
      } finally {
        libc.actionsDestroy(frame.actions);
        idle.push(frame);
      }
    },
  };
}

/** The memory of one call, which the next one uses again. */
interface Frame {
  readonly pid: Int32Array;
  readonly actions: Buffer;
}

function createFrame(): Frame {
  // Larger than what is used: memory of up to 64 bytes may move.
  return { pid: new Int32Array(new ArrayBuffer(128)), actions: Buffer.allocUnsafeSlow(STRUCT_BYTES) };
}

function fillActions(libc: Libc, { actions }: Frame, standard: readonly number[], cwd: string): void {
  libc.actionsInit(actions);
  for (const [target, fd] of standard.entries()) libc.addDup2(actions, fd, target);
  // Ours close by themselves; those that this process was started with do not.
  libc.addCloseFrom?.(actions, standard.length);
  libc.addChdir(actions, cwd);
}

/** What a call that has not returned points to must not be collected. */
const pointedTo = new Set<readonly unknown[]>();

function callInBackground(libc: Libc, args: readonly unknown[]): Promise<number> {
  pointedTo.add(args);
  return new Promise<number>((resolve, reject) => {
    libc.spawn.async(...args, (fault: unknown, error: number) => {
      pointedTo.delete(args);
      if (fault === null) resolve(error);
      else reject(fault);
    });
  });
}

/** Arguments and environments as C has them, kept for as long as the lists that they were made of. */
function createTexts(libc: Libc) {
  const argvs = new WeakMap<readonly string[], { readonly command: string; readonly argv: Buffer }>();
  const envps = new WeakMap<LaunchRequest['env'], Buffer>();
  return {
    argv: ({ command, args }: LaunchRequest): Buffer => {
      const known = argvs.get(args);
      if (known?.command === command) return known.argv;
      const argv = encodeStrings(libc, [command, ...args]);
      argvs.set(args, { command, argv });
      return argv;
    },
    envp: ({ env }: LaunchRequest): Buffer => {
      const known = envps.get(env);
      if (known !== undefined) return known;
      const envp = encodeStrings(
        libc,
        Object.entries(env).map(([name, value]) => `${name}=${value}`),
      );
      envps.set(env, envp);
      return envp;
    },
  };
}
