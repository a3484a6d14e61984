import { stringifyJson } from '../../base/json/json.ts';
import { whenAborted } from '../../base/time/async.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { toOpenApi } from '../api/openapi.ts';
import type { Handlers } from '../api/schema.ts';
import { changeKinds, sections, type session } from '../api/session.ts';

export interface SessionContext {
  /** Undefined: there are only runs of suites to see. */
  readonly runtime: Runtime | undefined;
  readonly watch: Runtime['watch'];
  readonly version: string;
}

export function sessionHandlers({ runtime, watch, version }: SessionContext): Handlers<typeof session> {
  return {
    'GET /me': ({ caller: { id, name, scopes } }) => ({
      id,
      name,
      scopes: [...scopes],
      sections: sections.filter((section) =>
        runtime === undefined
          ? section === 'evals'
          : scopes.has(section === 'inbox' ? 'pendings:read' : 'runs:read'),
      ),
      runtime: runtime === undefined ? null : { name: runtime.name, config: runtime.file },
      version,
      records: runtime?.console.records ?? { decisions: false, content: false, audit: false },
    }),
    'GET /changes': async function* ({ query, signal }) {
      const asked = changeKinds.filter((kind) => query.kinds.split(',').includes(kind));
      const changes = watch(asked, { signal })[Symbol.asyncIterator]();
      let next = changes.next();
      for (;;) {
        const change = await withinBeat(next, signal);
        if (signal.aborted) return;
        if (change === undefined) yield '\n';
        else if (change.done === true) return;
        else {
          yield `${stringifyJson(change.value)}\n`;
          next = changes.next();
        }
      }
    },
    'GET /openapi.json': toOpenApi,
  };
}

/** Undefined if nothing happens for so long that the client should hear that the server is there. */
async function withinBeat<Value>(next: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  const beat = Promise.withResolvers<undefined>();
  const stop = () => beat.resolve(undefined);
  const timer = setTimeout(stop, BEAT_MS);
  const forget = whenAborted(signal, stop);
  try {
    return await Promise.race([next, beat.promise]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

const BEAT_MS = 15_000;
