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

/**
 * Starts this program once more, with the same arguments. It shares the sockets on which it listens with its like.
 * Ends it if it has sent nothing for 20 seconds.
 */
export function startClusterWorker<Remote extends Functions<Remote>>(
  [, program = '']: readonly string[],
  argv: readonly string[],
  own: object,
): ClusterWorker<Remote> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: program, args: [...argv] });
  const worker = cluster.fork();
  const ready = Promise.withResolvers<void>();
  // Counted in beats, so that a pause of this process ends nobody.
  let beatsLeft = MOST_BEATS_OF_START;
  const beats = setInterval(() => {
    beatsLeft -= 1;
    if (beatsLeft < 0) worker.process.kill('SIGKILL');
  }, BEAT_MS).unref();
  worker.on('message', () => {
    ready.resolve();
    beatsLeft = MOST_BEATS_MISSED;
  });
  const endSilent = () => {
    if (beatsLeft < MOST_BEATS_MISSED - 1) worker.process.kill('SIGKILL');
  };
  process.once('exit', endSilent);
  const closeHanded = noteHanded(worker);
  const { remote, end } = connect<Remote>(worker, own, ready.promise);
  const ended = new Promise<string>((resolve) => {
    worker.on('error', ({ message }) => resolve(`could not be started: ${message}`));
    worker.once('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with ${code}`));
  });
  void ended.then((how) => {
    clearInterval(beats);
    closeHanded();
    process.off('exit', endSilent);
    end(`process ${worker.process.pid} ${how}`);
    ready.resolve();
  });
  return { pid: worker.process.pid ?? 0, remote, ended };
}

const BEAT_MS = 1_000;
/** A process that is stopped, or blocked for so long, answers nothing. */
const MOST_BEATS_MISSED = 20;
const MOST_BEATS_OF_START = 300;

/**
 * Node hands a process one connection at a time, keeps it open until the process confirms, and forgets it if the process
 * ends first: the client would wait for good. This closes it.
 */
function noteHanded({ process: child }: Worker): () => void {
  const { send } = child;
  let handed: unknown;
  const noting = (...values: unknown[]): unknown => {
    const [message, handle] = values;
    if (isObject(message) && message['act'] === 'newconn') handed = handle;
    return Reflect.apply(send, child, values);
  };
  Object.defineProperty(child, 'send', { value: noting });
  return () => {
    if (handed instanceof Object && 'close' in handed && typeof handed.close === 'function') handed.close();
  };
}

export const isClusterWorker = () => cluster.isWorker;

/** In a worker: connects it to the process that started it. Without that process, Node ends this one at once. */
export function joinCluster<Remote extends Functions<Remote>>(own: object) {
  const { worker } = cluster;
  if (worker === undefined) throw new RuntimeError('INTERNAL', 'this process is no worker of a cluster');
  const { remote } = connect<Remote>(worker, own, Promise.resolve());
  // Node drops what comes before anybody listens.
  const beat = () => worker.isConnected() && worker.send({ kind: 'beat' }, () => {});
  beat();
  setInterval(beat, BEAT_MS).unref();
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
      return { value: await Reflect.apply(Reflect.get(own, name), own, [value]) };
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
