import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { valueAt } from '../../base/yaml/read.ts';
import { trackReads } from '../../base/yaml/reads.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import {
  type HookDraft,
  type ImportContext,
  locateImportFinding,
  reportDisabled,
  reportKeys,
} from '../../dialects/foreign-files.ts';
import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import type { ForeignName } from '../config.ts';
import { formOf, isEventName, keyUsesOf, readEvents } from './events.ts';
import {
  type HooksSource,
  manifestOf,
  projectDirOf,
  readForeignFile,
  sourceOfFile,
  sourcesOfPlugin,
} from './sources.ts';

export interface FileImport {
  /** The absolute path of a file or a plugin's folder. */
  readonly file: string;
  readonly displayName: string;
  readonly dialect: ForeignName | undefined;
  readonly folder: string;
  readonly mustNotDrop: boolean;
  readonly notesLeft?: boolean;
  readonly searchPath: string;
  readonly judge?: NonNullable<ImportContext['judge']>;
}

export interface FileContents {
  readonly drafts: readonly HookDraft[];
  readonly problems: readonly Problem[];
  /** Why a file cannot be read; reported at the import. */
  readonly faults: readonly string[];
}

/** Every hook of a foreign file or a plugin's folder, and all problems. */
export function readHooksFile(fileImport: FileImport): FileContents {
  if (isFolder(fileImport.file)) {
    const manifest = manifestOf(fileImport.file, fileImport.displayName);
    const described =
      manifest === undefined ? [] : [readManifest(fileImport, { document: manifest, path: [] })];
    const parts = sourcesOfPlugin(fileImport.file, fileImport.displayName).map((source) =>
      'fault' in source ? unreadable(source.fault) : readSource(fileImport, source, true),
    );
    return joinContents([...described, ...parts]);
  }
  const document = readForeignFile(fileImport.file, fileImport.displayName);
  if ('fault' in document) return unreadable(document.fault);
  const { dialect } = fileImport;
  const whole = readerOfWhole(document, dialect);
  if (whole !== undefined) {
    return readDocumentWith(fileImport, { document, path: [] }, false, (reading) =>
      whole.read(reading, dirname(fileImport.file)),
    );
  }
  const source = sourceOfFile(document, formOf(dialect)?.needsHooksKey === true);
  if (source !== undefined) return readSource(fileImport, source, source.pluginRoot !== undefined);
  return readDocumentWith(fileImport, { document, path: [] }, false, (reading) => {
    reportKeys(reading, keyUsesOf('fileKeys', formOf(dialect)), isEventName);
    if (!isDisabled(reading)) {
      reading.addFinding({
        severity: 'warning',
        path: [],
        message: 'has no `hooks`, so nothing is imported',
      });
    }
    return [];
  });
}

/** Returns a reader for a file format of one dialect: the named one, or one that the file resembles. */
function readerOfWhole(document: YamlDocument, dialect: ForeignName | undefined) {
  return (dialect === undefined ? foreignNames : [dialect])
    .flatMap((name) => foreignDialects[name].files?.document ?? [])
    .find(({ isOwn }) => dialect !== undefined || isOwn(document));
}

/** The remarks of the imported hooks' dialects. */
export function notesOf(drafts: readonly HookDraft[]): { readonly message: string; readonly hint: string }[] {
  const dialects = foreignNames.filter((name) => drafts.some(({ dialect }) => dialect === name));
  return dialects.flatMap((name) => foreignDialects[name].files?.note ?? []);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readSource(fileImport: FileImport, source: HooksSource, isPlugin: boolean): FileContents {
  return readDocumentWith(fileImport, source, isPlugin, (reading) => {
    const form = formOf(fileImport.dialect);
    const isBare = source.path.length === 0;
    if (source.isManifest !== true) reportKeys(reading, keyUsesOf('fileKeys', form), () => isBare);
    const hooks = valueAt(source.document, source.path);
    if (isDisabled(reading) || (hooks === null && source.path.length > 0)) return [];
    return readEvents(reading, source.path, form);
  });
}

/** Reads the top-level keys of a plugin's manifest; its hooks are a separate source. */
function readManifest(fileImport: FileImport, source: HooksSource): FileContents {
  if (findBroken(source.document).length > 0) return joinContents([]);
  return readDocumentWith(fileImport, source, true, (reading) => {
    reportKeys(reading, keyUsesOf('manifestKeys', formOf(fileImport.dialect)));
    return [];
  });
}

function isDisabled(reading: ImportContext): boolean {
  const path = ['disableAllHooks'];
  if (valueAt(reading.document, path) !== true) return false;
  reportDisabled(reading, path, 'true');
  return true;
}

function readDocumentWith(
  fileImport: FileImport,
  { document: given, path, pluginRoot }: HooksSource,
  isPlugin: boolean,
  read: (reading: ImportContext) => HookDraft[],
): FileContents {
  const broken = findBroken(given);
  if (broken.length > 0) return { drafts: [], problems: broken, faults: [] };
  const { document, unread } = trackReads(given);
  const problems: Problem[] = [];
  const found: Path[] = [];
  const addFinding = (report: Finding): void => {
    problems.push(locateImportFinding(given, report));
    // An error omits everything beside the reported value.
    const { path: at, severity = 'error' } = report;
    if (at.length > 1) found.push(severity === 'error' ? at.slice(0, -1) : at);
  };
  const { file, folder, searchPath, mustNotDrop, notesLeft = false, judge } = fileImport;
  const projectDir = projectDirOf(isFolder(file) ? join(file, 'plugin.json') : file, folder);
  const place = { projectDir, ...omitUndefined({ pluginRoot, judge }), isPlugin };
  const drafts = read({ document, ...place, searchPath, mustNotDrop, notesLeft, addFinding });
  const isKnown = (key: Path): boolean =>
    found.some((each) => each.every((part, index) => part === key[index]));
  const left = notesLeft ? unread(path.length > 0 ? path : ['hooks']) : [];
  for (const key of left.filter((each) => !isKnown(each)))
    addFinding({
      severity: 'warning',
      path: key,
      atKey: true,
      message: 'is not read, and has no effect here',
    });
  return { drafts, problems, faults: [] };
}

function findBroken(document: YamlDocument): Problem[] {
  const errors = document.problems.filter(({ severity }) => severity === 'error');
  const intact = isObject(document.value) || errors.length > 0;
  const problems: readonly Problem[] = intact
    ? errors
    : [{ ...document.positionOf([]), severity: 'error', message: 'hooks must be a JSON object' }];
  return problems.map((problem) => ({
    ...problem,
    message: intact ? `Could not parse hooks file ${document.file}: ${problem.message}` : problem.message,
  }));
}

function unreadable(fault: string): FileContents {
  return { drafts: [], problems: [], faults: [fault] };
}

function joinContents(parts: readonly FileContents[]): FileContents {
  return {
    drafts: parts.flatMap(({ drafts }) => drafts),
    problems: parts.flatMap(({ problems }) => problems),
    faults: parts.flatMap(({ faults }) => faults),
  };
}

/** Returns an unused name and reserves it: the hook's own, or `<event>-<n>` counted from 1. */
export function nameHook(draft: HookDraft, taken: Set<string>): string {
  const name = draft.name ?? firstFreeName(draft.event ?? draft.dialect, taken);
  taken.add(name);
  return name;
}

export function firstFreeName(stem: string, taken: ReadonlySet<string>): string {
  let count = 1;
  while (taken.has(`${stem}-${count}`)) count += 1;
  return `${stem}-${count}`;
}
