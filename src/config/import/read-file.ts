import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../json/json.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { valueAt } from '../../yaml/read.ts';
import type { ForeignName } from '../entry.ts';
import type { DialectChecks } from '../foreign-checks.ts';
import type { Finding } from '../report.ts';
import type { HookDraft } from './draft.ts';
import { type EntryDialect, readEvents } from './entries.ts';
import { isPicoclaw, readProcesses } from './picoclaw.ts';
import { type ImportContext, locateImportFinding, reportDisabled } from './reading.ts';
import {
  type HooksSource,
  handlerFoldersOf,
  readForeignFile,
  sourceOfFile,
  sourcesOfPlugin,
} from './sources.ts';

/** The file or folder to import, and the options of the import. */
export interface FileImport {
  /** Absolute: a file, or a plugin’s folder. */
  readonly file: string;
  /** As problems name it. */
  readonly displayName: string;
  readonly dialect: Exclude<ForeignName, 'chibi'> | undefined;
  /** The config file’s folder, absolute. */
  readonly folder: string;
  readonly mustNotDrop: boolean;
  readonly searchPath: string;
  readonly checks: DialectChecks;
}

export interface FileContents {
  readonly drafts: readonly HookDraft[];
  /** In the foreign files. */
  readonly problems: readonly Problem[];
  /** Why a file could not be read at all; belongs to the import. */
  readonly faults: readonly string[];
}

/** Every hook that a foreign file or a plugin’s folder declares, and all that is wrong with them. */
export function readHooksFile(fileImport: FileImport): FileContents {
  if (isFolder(fileImport.file)) {
    const parts = sourcesOfPlugin(fileImport.file, fileImport.displayName).map((source) =>
      'fault' in source ? unreadable(source.fault) : readSource(fileImport, source, true),
    );
    return joinContents(parts);
  }
  const document = readForeignFile(fileImport.file, fileImport.displayName);
  if ('fault' in document) return unreadable(document.fault);
  if (fileImport.dialect === 'picoclaw' || (fileImport.dialect === undefined && isPicoclaw(document))) {
    return readDocumentWith(fileImport, { document, path: [] }, false, (reading) =>
      readProcesses(reading, dirname(fileImport.file)),
    );
  }
  const source = sourceOfFile(document, fileImport.dialect === 'claude');
  if (source !== undefined) return readSource(fileImport, source, source.pluginRoot !== undefined);
  return readDocumentWith(fileImport, { document, path: [] }, false, (reading) => {
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readSource(fileImport: FileImport, source: HooksSource, isPlugin: boolean): FileContents {
  const form: EntryDialect =
    fileImport.dialect === 'claude' || fileImport.dialect === 'agentao' ? fileImport.dialect : undefined;
  return readDocumentWith(fileImport, source, isPlugin, (reading) => {
    const hooks = valueAt(source.document, source.path);
    if (isDisabled(reading) || (hooks === null && source.path.length > 0)) return [];
    return readEvents(reading, source.path, form);
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
  { document, pluginRoot }: HooksSource,
  isPlugin: boolean,
  read: (reading: ImportContext) => HookDraft[],
): FileContents {
  const broken = findBroken(document);
  if (broken.length > 0) return { drafts: [], problems: broken, faults: [] };
  const problems: Problem[] = [];
  const addFinding = (report: Finding): void => {
    problems.push(locateImportFinding(document, report));
  };
  const folders = handlerFoldersOf(
    isFolder(fileImport.file) ? join(fileImport.file, 'plugin.json') : fileImport.file,
    fileImport.folder,
    pluginRoot,
  );
  const { checks, searchPath, mustNotDrop } = fileImport;
  const drafts = read({ document, folders, isPlugin, checks, searchPath, mustNotDrop, addFinding });
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
