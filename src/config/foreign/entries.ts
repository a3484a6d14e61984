import type { Path, YamlDocument } from '../../yaml/document.ts';
import { omitUndefined } from '../../yaml/present.ts';
import { choiceAt, entriesAt } from '../../yaml/read.ts';
import { readExec } from '../build/exec.ts';
import { whyRefused } from '../build/refused.ts';
import type { ChibiHookConfig, ForeignHookConfig } from '../config.ts';
import type { ForeignName } from '../entry.ts';
import { foreignNames } from '../schema/exec.ts';
import { readAgentao } from './agentao.ts';
import { chibiHomeOf } from './chibi-home.ts';
import { readClaude } from './claude.ts';
import type { EntryContext } from './context.ts';
import { readPicoclaw } from './picoclaw.ts';

/** The hooks of `spec.hooks` with a foreign dialect, each with its index among all hooks. */
export function readForeignEntries(
  document: YamlDocument,
  context: Omit<EntryContext, 'exec'>,
): ForeignHookConfig[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ name, path }, fileIndex): ForeignHookConfig[] => {
    const dialect = foreignAt(document, path);
    if (dialect === undefined) return [];
    const exec = readExec(document, path, { refused: whyRefused(document, path) });
    const onFailure = choiceAt(document, [...path, 'on_failure'], ['deny']) ?? context.defaults.onFailure;
    return [
      {
        name,
        fileIndex,
        ...omitUndefined({ onFailure }),
        source: document.keyPositionOf(path),
        ...readers[dialect](document, path, { ...context, exec }),
      },
    ];
  });
}

/** The foreign dialect of the hook at `path`; undefined for a native one. */
export function foreignAt(document: YamlDocument, path: Path): ForeignName | undefined {
  return choiceAt(document, [...path, 'dialect'], foreignNames);
}

const readers = { picoclaw: readPicoclaw, chibi: readChibi, claude: readClaude, agentao: readAgentao };

function readChibi(
  _document: YamlDocument,
  _path: Path,
  { exec, folder }: EntryContext,
): Pick<ChibiHookConfig, 'dialect' | 'exec' | 'settings'> {
  const chibiHome = chibiHomeOf(exec, folder);
  return { dialect: 'chibi', exec, settings: { tool: '', points: [], chibiHome, projectRoot: folder } };
}
