import { basename, dirname, join, resolve, sep } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { followLinks, holds } from '../../base/files/paths.ts';
import { existsWatched } from '../../base/files/read-bounded.ts';
import { isObject } from '../../base/json/json.ts';
import { type Path, parseDocument, readText, type YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { eventForms } from './events.ts';

/** A mapping of events in a file, or why there is none. */
export type HooksSourceResult = HooksSource | { readonly fault: string };

export interface HooksSource {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly pluginRoot?: string;
  /** The document is a plugin's manifest. */
  readonly isManifest?: boolean;
}

/** `shown` is the file's name in problems. */
export function readForeignFile(
  file: string,
  displayName: string,
): YamlDocument | { readonly fault: string } {
  try {
    const text = readText(file);
    if (typeof text !== 'string')
      return { fault: `Could not parse hooks file ${displayName}: ${text.message}` };
    return parseDocument(displayName, text);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    return {
      fault: thrown.message.endsWith('does not exist')
        ? `Hooks file not found: ${displayName}`
        : thrown.message,
    };
  }
}

/** Finds hooks under `hooks` or at the top level. With `isSettings`, a file without the key has none. */
export function sourceOfFile(document: YamlDocument, isSettings: boolean): HooksSource | undefined {
  const { value, file } = document;
  const pluginRoot = pluginRootOf(resolve(file));
  const root = pluginRoot === undefined ? {} : { pluginRoot };
  if (!isObject(value) || Object.hasOwn(value, 'hooks')) {
    return { document, path: isObject(value) ? ['hooks'] : [], ...root };
  }
  return isSettings || Object.hasOwn(value, 'disableAllHooks') ? undefined : { document, path: [], ...root };
}

function pluginRootOf(file: string): string | undefined {
  return basename(file) === 'hooks.json' && basename(dirname(file)) === 'hooks'
    ? dirname(dirname(file))
    : undefined;
}

export const manifestNames: readonly string[] = [
  'plugin.json',
  ...eventForms.flatMap(({ manifest }) => manifest ?? []),
];

const STANDARD_PART = 'hooks/hooks.json';

/** `hooks` of a plugin's manifest, else hooks/hooks.json. Some systems' manifests add to hooks.json. */
export function sourcesOfPlugin(folder: string, displayName: string): HooksSourceResult[] {
  const [found] = manifestNames
    .map((name) => ({ name, manifest: readForeignFile(join(folder, name), join(displayName, name)) }))
    .filter(({ manifest }) => !('fault' in manifest && manifest.fault.startsWith('Hooks file not found')));
  if (found === undefined) return [sourceOfPart(folder, displayName, STANDARD_PART)];
  const { name, manifest } = found;
  if ('fault' in manifest) return [manifest];
  const fault = manifest.problems.find(({ severity }) => severity === 'error') ?? findMissingName(manifest);
  if (fault !== undefined) return [{ fault: `${manifest.file}: ${fault.message}` }];
  const hooks = valueAt(manifest, ['hooks']);
  if (hooks === undefined || hooks === null) return [sourceOfPart(folder, displayName, STANDARD_PART)];
  const parts: Path[] = Array.isArray(hooks) ? itemsAt(manifest, ['hooks']) : [['hooks']];
  const named = parts.map((part) => valueAt(manifest, part)).filter((value) => typeof value === 'string');
  const standard = resolve(folder, STANDARD_PART);
  const addsHooks = eventForms.some((form) => form.manifest === name && form.addsManifestHooks === true);
  const isLoadedBeside =
    addsHooks && existsWatched(standard) && !named.some((part) => resolve(folder, part) === standard);
  return [
    ...(isLoadedBeside ? [sourceOfPart(folder, displayName, STANDARD_PART)] : []),
    ...parts.map((part): HooksSourceResult => {
      const value = valueAt(manifest, part);
      if (typeof value === 'string') return sourceOfPart(folder, displayName, value);
      const isWrapped = isObject(value) && isObject(value['hooks']);
      return {
        document: manifest,
        path: isWrapped ? [...part, 'hooks'] : part,
        pluginRoot: folder,
        isManifest: true,
      };
    }),
  ];
}

export function manifestOf(folder: string, displayName: string): YamlDocument | undefined {
  return manifestNames
    .map((name) => readForeignFile(join(folder, name), join(displayName, name)))
    .flatMap((read) => ('fault' in read ? [] : [read]))
    .at(0);
}

function findMissingName(manifest: YamlDocument): { message: string } | undefined {
  return typeof valueAt(manifest, ['name']) === 'string' ? undefined : { message: 'name is required' };
}

function sourceOfPart(folder: string, displayName: string, part: string): HooksSourceResult {
  if (leadsOut(folder, part))
    return { fault: `${join(displayName, part)} is outside the folder of the plugin` };
  const document = readForeignFile(resolve(folder, part), join(displayName, part));
  if ('fault' in document) return document;
  const source = sourceOfFile(document, false);
  return { ...(source ?? { document, path: [] }), pluginRoot: folder };
}

/** Whether a path leads outside the folder after links are resolved. A missing file inside it does not. */
function leadsOut(folder: string, part: string): boolean {
  const path = resolve(folder, part);
  return !holds(resolve(folder), path) || !holds(followLinks(folder), followLinks(path));
}

/** The project of the hooks in a file: the parent of the system's own folder, else the config's folder. */
export function projectDirOf(file: string, folder: string): string {
  const parts = dirname(resolve(file)).split(sep);
  const own: readonly string[] = eventForms.map(({ settingsFolder }) => settingsFolder);
  const index = parts.findLastIndex((part) => own.includes(part));
  return index === -1 ? folder : parts.slice(0, index).join(sep) || sep;
}
