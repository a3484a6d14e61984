import type { Path } from '../../../base/yaml/document.ts';
import type { Finding } from '../../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import type { VolatileFields } from '../../../process/cassette/volatile-fields.ts';
import type { DialectConfig, EntryCheckInput } from '../../dialect-config.ts';
import { points, pointsAt } from '../points.ts';
import { isOwnFile, readEntry, readProcesses } from './import.ts';
import { type PicoclawSettings, picoclawEntry } from './settings.ts';

const volatileFields: VolatileFields = {
  meta: { SessionKey: 'drop run ids', TurnID: 'drop run ids' },
  context: { inbound: { chat_id: 'drop run ids' } },
  chat_id: 'drop run ids',
  duration: 'drop',
  Time: 'drop',
  Meta: { SessionKey: 'drop run ids', TurnID: 'drop run ids' },
  Context: { inbound: { chat_id: 'drop run ids' } },
  id: 'drop',
  time: 'drop',
  scope: { session_key: 'drop run ids', turn_id: 'drop run ids', chat_id: 'drop run ids' },
};

export const picoclaw: DialectConfig<PicoclawSettings> = {
  name: 'picoclaw',
  title: 'picoclaw',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).picoclaw,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInboundServer: async () => (await import('../inbound/server.ts')).inboundServer,
  volatileFields,
  entry: picoclawEntry,
  readEntry,
  checkEntry,
  declaredPoints: ({ intercept, observe }) => (observe.length === 0 ? intercept : [...intercept, 'event']),
  failsOpen: ({ settings: { intercept } }) =>
    intercept.some((method) => method !== 'approve_tool')
      ? 'a timeout, an error, its death, an answer without a known action'
      : undefined,
  timeoutMs: ({ settings: { interceptorTimeoutMs } }) => interceptorTimeoutMs,
  toProcess: (_settings, exec) => ({ exec: { ...exec, runtime: 'server' } }),
  files: {
    note: {
      message: 'its processes have a closed environment, but PicoClaw gives them all variables of the host',
      hint: 'Name what else they need in `env`.',
    },
    document: { isOwn: isOwnFile, read: readProcesses },
  },
};

function checkEntry({ document, path }: EntryCheckInput): Finding[] {
  const at = (...keys: string[]): Path => [...path, ...keys];
  const lists = ['intercept', 'observe'].filter(
    (key) => valueAt(document, at('picoclaw', key)) !== undefined,
  );
  const isShort = valueAt(document, at('hook')) !== undefined;
  const twoForms = isShort ? lists[0] : undefined;
  const asksNothing = itemsAt(document, at('picoclaw', 'intercept')).every(
    (item) => valueAt(document, item) === '',
  );
  const isSilent = !isShort && asksNothing && itemsAt(document, at('picoclaw', 'observe')).length === 0;
  return [
    ...(twoForms === undefined
      ? []
      : [errorAt(at('hook'), `cannot be combined with picoclaw.${twoForms}`, 'Keep one of the two forms.')]),
    ...(isSilent ? [errorAt(path, 'needs picoclaw.intercept or picoclaw.observe', listHint)] : []),
    ...(!isShort && valueAt(document, at('phases')) !== undefined
      ? [errorAt(at('phases'), 'needs `hook`', 'Name the methods in `picoclaw.intercept` instead.')]
      : []),
    ...(textAt(document, at('cwd')) !== undefined && textAt(document, at('picoclaw', 'dir')) !== undefined
      ? [errorAt(at('cwd'), 'cannot be combined with picoclaw.dir', 'Keep one of the two.')]
      : []),
  ];
}

const listHint =
  'intercept takes before_llm, after_llm, before_tool, after_tool and approve_tool; observe kinds of events.';

function errorAt(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
