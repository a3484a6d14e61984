import type { DialectConfig } from '../../dialect-config.ts';
import { isCommandLineForm } from '../command-line-form.ts';
import { points } from '../points.ts';
import { pointsAt } from '../points-at.ts';
import { tool } from '../tool.ts';
import { chibiHomeOf, toProcess } from './process.ts';
import { chibiEntry } from './schema.ts';
import type { ChibiSettings } from './settings.ts';

const failsOpen = 'an exit code other than 0, an empty answer, one that is no JSON object, a wrong type';

/** Plugins written for chibi, as a config declares or imports them. */
export const chibi: DialectConfig<ChibiSettings> = {
  name: 'chibi',
  title: 'chibi',
  points,
  pointsAt,
  loadHooks: async () => (await import('../dialect.ts')).chibi,
  loadTrial: async () => (await import('../trial.ts')).trial,
  loadInbound: async () => (await import('../inbound/inbound.ts')).inbound,
  // The body of a tool's call is its arguments, and no point has anything that changes.
  volatileFields: {},
  entry: chibiEntry,
  readEntry: (_document, _path, { exec, folder }) => ({
    exec,
    settings: { tool: '', points: [], chibiHome: chibiHomeOf(exec, folder), projectRoot: folder },
  }),
  declaredPoints: ({ points: own }) => (own.length === 0 ? undefined : own),
  failsOpen: () => failsOpen,
  timeoutMs: () => 30_000,
  toProcess,
  plugins: {
    folderKey: 'plugins_dir',
    failsOpen,
    load: async () => await import('./plugins.ts'),
  },
  tool: {
    codec: tool,
    remark: 'chibi: the arguments on stdin, the result as it stands on stdout.',
    serverFault: 'a chibi plugin is started anew for each call',
    toProcess: (exec, context) => {
      const chibiHome = chibiHomeOf(exec, context.folder);
      return toProcess({ chibiHome, projectRoot: context.folder }, exec, context);
    },
    isDirect: isCommandLineForm,
  },
};
