import cluster, { type Worker } from 'node:cluster';
import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';

/** Functions that another process answers. Values go as JSON. */
type Functions<Remote> = { readonly [Name in keyof Remote]: (value: never) => Promise<unknown> };

export interface ClusterWorker<Remote> {
  readonly pid: number;
  /** They reject with the other's RuntimeError, or with PROCESS_EXIT once it has ended. */
  readonly remote: Remote;
  /** Resolves to how it ended, such as `was ended by SIGKILL`. */
  readonly ended: Promise<string>;
}

/** Starts this program once more, with the same arguments. It shares the sockets on which it listens with its like. */
export function startClusterWorker<Remote extends Functions<Remote>>(
  [, program = '']: readonly string[],
  argv: readonly string[],
  own: object,
): ClusterWorker<Remote> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: program, args: [...argv] });
  const worker = cluster.fork();
  const ready = Promise.withResolvers<void>();
  worker.once('message', () => ready.resolve());
  const { remote, end } = connect<Remote>(worker, own, ready.promise);
  const ended = new Promise<string>((resolve) => {
    worker.on('error', ({ message }) => resolve(`could not be started: ${message}`));
    worker.once('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with ${code}`));
  });
  void ended.then((how) => {
    end(`process ${worker.process.pid} ${how}`);
    ready.resolve();
  });
  return { pid: worker.process.pid ?? 0, remote, ended };
}

export const isClusterWorker = () => cluster.isWorker;

/** In a worker: connects it to the process that started it. Without that process, Node ends this one at once. */
export function joinCluster<Remote extends Functions<Remote>>(own: object) {
  const { worker } = cluster;
  if (worker === undefined) throw new RuntimeError('INTERNAL', 'this process is no worker of a cluster');
  const { remote } = connect<Remote>(worker, own, Promise.resolve());
  // Node drops what comes before anybody listens.
  worker.send({ kind: 'ready' });
  return { remote, leave: () => void worker.disconnect() };
}

function connect<Remote extends Functions<Remote>>(port: Worker, own: object, ready: Promise<void>) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let count = 0;
  let ended: RuntimeError | undefined;
  const send = (message: Message) => void port.send(message, () => {});
  const ask = (name: string) => async (value: unknown) => {
    await ready;
    if (ended !== undefined) throw ended;
    const answer = Promise.withResolvers<unknown>();
    const number = ++count;
    waiting.set(number, answer);
    send({ kind: 'question', number, name, value });
    return await answer.promise;
  };
  const answer = async (name: string, value: unknown): Promise<Reply> => {
    try {
      return { value: await Reflect.get(own, name)(value) };
    } catch (thrown) {
      return { fault: toFault(thrown) };
    }
  };
  port.on('message', async (received: unknown) => {
    if (!isMessage(received)) return;
    const { number } = received;
    if (received.kind === 'question')
      return send({ kind: 'reply', number, ...(await answer(received.name, received.value)) });
    const asked = waiting.get(number);
    waiting.delete(number);
    if (received.fault === undefined) return asked?.resolve(received.value);
    const { code, message, hint, details } = received.fault;
    asked?.reject(new RuntimeError(code, message, { hint, ...(details && { details }) }));
  });
  return {
    remote: new Proxy({}, { get: (_, name) => ask(String(name)) }) as Remote,
    end: (reason: string) => {
      ended = new RuntimeError('PROCESS_EXIT', reason);
      for (const { reject } of waiting.values()) reject(ended);
      waiting.clear();
    },
  };
}

type Reply = { readonly value?: unknown; readonly fault?: Fault };
type Message =
  | { readonly kind: 'question'; readonly number: number; readonly name: string; readonly value: unknown }
  | ({ readonly kind: 'reply'; readonly number: number } & Reply);

/** Both processes run this program, so a message of either kind is complete. */
function isMessage(received: unknown): received is Message {
  return isObject(received) && (received['kind'] === 'question' || received['kind'] === 'reply');
}
