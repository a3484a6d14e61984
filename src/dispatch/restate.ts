import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import PQueue from 'p-queue';
import type { RestateConfig } from '../config/config.ts';
import { formatListen, parseListen } from '../config/listen.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import type { Job } from '../store/shared-work.ts';
import type { Dispatcher, Handled, JobHandler, Working, WorkOptions } from './dispatcher.ts';
import { loadRestate } from './load-restate.ts';

/**
 * Jobs by a Restate server, which calls the workers: a service for each build, at one address for all workers of a config. What is
 * announced is told behind the commit; when that fails, the sweep tells of it a minute later.
 */
export function openRestate(config: RestateConfig, report: (error: unknown) => void): Dispatcher {
  return {
    announce: async (jobs, transaction) => {
      for (const job of jobs) transaction.afterCommit(() => send(config, job).catch(report));
      return true;
    },
    work: (handler, options) => serve(config, handler, options),
    close: async () => {},
  };
}

function serviceOf(queue: string): string {
  return `signalbox_${queue}`;
}

async function send({ url }: RestateConfig, { queue, kind, id }: Job): Promise<void> {
  await post(`${url}/${serviceOf(queue)}/job/send`, { kind, id });
}

/** Rejects with STORE_FAILED. */
async function post(address: string, body: object): Promise<void> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const said = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${said.slice(0, 300)}`);
  } catch (cause) {
    throw new RuntimeError(
      'STORE_FAILED',
      `Restate at ${new URL(address).origin} failed (${toRuntimeError(cause).message})`,
      {
        hint: 'Check that it runs there, and spec.state_store.dispatcher.',
        cause,
      },
    );
  }
}

const ANSWER_MS = 10_000;

/** Answers calls of the server from now on, and tells it where. Rejects with STORE_FAILED, LISTEN_FAILED. */
async function serve(config: RestateConfig, handler: JobHandler, options: WorkOptions): Promise<Working> {
  const restate = await loadRestate();
  const places = new PQueue({ concurrency: options.concurrency });
  const closing = new AbortController();
  const state = { isStopped: false };
  const doJob = async (job: Job): Promise<Handled> => {
    // The server calls another worker then.
    if (state.isStopped) throw new Error('this worker takes no further jobs');
    if ((await options.take([job])).length === 0) return 'done';
    return await handler(job, closing.signal);
  };
  const services = options.queues.map((queue) =>
    restate.service({
      name: serviceOf(queue),
      handlers: {
        job: async (context: import('@restatedev/restate-sdk').Context, given: unknown): Promise<void> => {
          const job = readJob(queue, given);
          for (;;) {
            const handled = await places.add(() => doJob(job));
            if (handled === 'done') return;
            await context.sleep(handled.retryMs);
          }
        },
      },
      // The journal of a run is in the store: the server is not to end what says nothing to it.
      options: { inactivityTimeout: { hours: 24 }, abortTimeout: { hours: 24 } },
    }),
  );
  const endpoint = restate.endpoint().setLogger(() => {});
  for (const service of services) endpoint.bind(service);
  const { address, close } = await listen(config, createServer(endpoint.http2Handler()));
  try {
    await post(`${config.adminUrl}/deployments`, { uri: config.serviceUrl ?? address, force: true });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    busy: () => places.pending,
    stop: () => {
      state.isStopped = true;
    },
    idle: () => places.onIdle(),
    abort: () => closing.abort(),
    close,
  };
}

function readJob(queue: string, given: unknown): Job {
  const { kind, id } = isObject(given) ? given : {};
  if ((kind === 'run' || kind === 'chunk') && typeof id === 'string') return { queue, kind, id };
  throw new TypeError('a job is of no kind that this version of Signalbox knows');
}

async function listen(
  { listen: text }: RestateConfig,
  server: Http2Server,
): Promise<{ readonly address: string; readonly close: () => Promise<void> }> {
  const wanted = parseListen(text) ?? { host: '127.0.0.1', port: 0 };
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  try {
    server.listen(wanted.port, wanted.host);
    await once(server, 'listening');
  } catch (cause) {
    throw new RuntimeError(
      'LISTEN_FAILED',
      `${text} cannot be listened on: ${toRuntimeError(cause).message}`,
      { cause },
    );
  }
  const bound = server.address();
  const port = bound === null || typeof bound === 'string' ? wanted.port : bound.port;
  return {
    address: `http://${formatListen({ host: wanted.host, port })}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
