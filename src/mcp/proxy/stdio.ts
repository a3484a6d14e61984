import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import { whenAborted } from '../../base/time/async.ts';
import { LOCAL_USER } from '../client.ts';
import { openLines, type StdioOptions } from '../stdio.ts';
import { openConnection, type ProxyParts, type SentCall, type Wire } from './connection.ts';
import { paramHeaders } from './headers.ts';
import { type Id, malformed, type Response, readProxied, stopped, withId } from './message.ts';

export interface ProxiedStdio {
  /** Resolves when the client has left, or the upstream has ended. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Connects one client over stdio with its own connection to the upstream. Throws as `upstreams.channel`. */
export async function proxyStdio(
  parts: ProxyParts,
  { session, ...streams }: StdioOptions & { readonly session?: string | undefined },
): Promise<ProxiedStdio> {
  const { runtime, server, report } = parts;
  const connection = openConnection(parts, { id: LOCAL_USER, session, mayCall: () => true });
  const answers = new Set<Promise<void>>();
  /** Requests of the proxy itself. */
  const own = new Map<Id, Pick<PromiseWithResolvers<Response>, 'resolve' | 'reject'>>();
  // Each direction keeps the order of notifications; a request or an answer overtakes none.
  let [up, down] = [Promise.resolve(), Promise.resolve()];

  const take = (response: Response) => {
    const asking = own.get(response.id);
    void down.then(async () => {
      if (asking === undefined) await connection.settle(response);
      else asking.resolve(response);
    });
  };

  const channel = await runtime.upstreams.channel(server, {
    onText: (text) => {
      const message = readProxied(Buffer.from(text));
      if (message.kind === 'refused') {
        const { id, error } = message.reply;
        report(`MCP server ${server}: dropped a message: ${error.message}`);
        if (id !== null) connection.fail(malformed(server, error.message), id);
      } else if (message.kind === 'response') {
        take(message);
      } else {
        down = down.then(async () => {
          const { toClient, toServer } = await connection.fromServer(message);
          if (toClient !== undefined) await lines.write(toClient);
          if (toServer !== undefined) await send(toServer);
        });
      }
    },
    onClose: (fault) => {
      const cause = toRuntimeError(fault ?? new Error('it has ended'));
      connection.fail(cause);
      for (const { reject } of own.values()) reject(cause);
      void Promise.all(answers).then(() => lines.close());
    },
  });
  // A closed channel has already failed what is open.
  const send = async (text: string) => await channel.send(text).catch(() => {});

  const receive = (line: Uint8Array) => {
    const message = readProxied(line);
    if (message.kind === 'refused') void lines.write(JSON.stringify(message.reply));
    else if (message.kind === 'request') {
      const before = up;
      const post = async (
        text: string,
        id: Id,
        { call, signal }: { call?: SentCall | undefined; signal?: AbortSignal | undefined } = {},
      ) => {
        await before;
        const isModern = message.params.includes(`"${versionKey}"`);
        const headers = isModern && call ? Object.fromEntries(paramHeaders(call.definition, call.args)) : {};
        const ended = () => connection.fail(malformed(server, 'the stream has ended without an answer'), id);
        try {
          await channel.send(text, { headers, requestSignal: signal, onRequestStreamEnd: ended });
        } catch (error) {
          const response = readProxied(Buffer.from(withId(httpTextOf(error), id)));
          if (response.kind === 'response' && response.id === id) take(response);
          else throw error instanceof RuntimeError ? error : malformed(server, 'it has refused the message');
        }
      };
      const ask: Wire['ask'] = async (text, id, signal) => {
        const { promise, ...asking } = Promise.withResolvers<Response>();
        own.set(id, asking);
        const release = whenAborted(signal, () => asking.reject(signal.reason));
        void post(text, id, { signal }).catch(asking.reject);
        try {
          return await promise;
        } finally {
          release();
          own.delete(id);
        }
      };
      const sendRequest: Wire['send'] = async (text, call, signal) =>
        await post(text, message.id, { call, signal });
      const answer = connection.begin(message, { send: sendRequest, ask }).then(async ({ text, reason }) => {
        if (message.method === 'initialize') channel.setProtocolVersion?.(versionIn(text));
        if (reason !== 'cancelled') await lines.write(text);
      });
      answers.add(answer);
      void answer.then(() => answers.delete(answer));
    } else {
      const judged = connection.fromClient(message);
      up = up.then(async () => {
        const text = await judged;
        if (text !== undefined) await send(text);
      });
    }
  };
  const lines = openLines(streams, {
    onLine: receive,
    answered: async () => void (await Promise.all(answers)),
  });
  lines.start();
  return {
    closed: lines.closed,
    close: async () => {
      lines.close();
      connection.fail(stopped());
      for (const { reject } of own.values()) reject(stopped());
      await channel.close();
    },
  };
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** What a server answered with an HTTP status of an error; the error of the SDK has it. */
function httpTextOf(error: unknown): string {
  const data = error instanceof Error && 'data' in error && isObject(error.data) ? error.data : {};
  return typeof data['text'] === 'string' ? data['text'] : '';
}

/** The version on which the handshake of 2025 agreed. */
function versionIn(answer: string): string {
  const { result } = parseJson(answer) as { readonly result?: unknown };
  return isObject(result) ? String(result['protocolVersion']) : '';
}
