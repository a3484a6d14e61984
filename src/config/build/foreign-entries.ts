import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { choiceAt, entriesAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import type { DefaultsConfig, ForeignHookConfig } from '../config.ts';
import { foreignAt, readExec } from '../exec.ts';
import { locateFinding } from '../schema.ts';
import { whyRefused } from './refused.ts';

export interface ForeignContext {
  /** The config file's folder, absolute. */
  readonly folder: string;
  /** A PATH; empty: unknown. */
  readonly searchPath: string;
  readonly overlays: readonly string[];
  readonly stateFolder: string;
  readonly defaults: DefaultsConfig;
}

export function readForeignEntries(document: YamlDocument, context: ForeignContext): ForeignHookConfig[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ name, path }, fileIndex): ForeignHookConfig[] => {
    const dialect = foreignAt(document, path);
    if (dialect === undefined) return [];
    const declared = readExec(document, path, { refused: whyRefused(document, path) });
    const onFailure = choiceAt(document, [...path, 'on_failure'], ['deny']) ?? context.defaults.onFailure;
    const source = document.keyPositionOf(path);
    const { exec, settings } = foreignDialects[dialect].readEntry(document, path, {
      ...context,
      exec: declared,
    });
    return [
      {
        dialect,
        name,
        fileIndex,
        ...omitUndefined({ onFailure }),
        source,
        ...(exec && { exec: { ...exec, dialect } }),
        settings,
      },
    ];
  });
}

/** Problems that the schema cannot express. */
export function checkForeignEntries(
  document: YamlDocument,
  surroundings: Pick<ForeignContext, 'folder' | 'searchPath'>,
): Problem[] {
  return entriesAt(document, ['spec', 'hooks'])
    .flatMap(({ path }) => {
      const dialect = foreignAt(document, path);
      if (dialect === undefined) return [];
      return foreignDialects[dialect].checkEntry?.({ document, path, ...surroundings }) ?? [];
    })
    .map((each) => locateFinding(document, each));
}
