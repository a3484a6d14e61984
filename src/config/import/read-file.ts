import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../json/json.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { valueAt } from '../../yaml/read.ts';
import type { ForeignName } from '../entry.ts';
import type { ForeignChecks } from '../foreign-checks.ts';
import type { Report } from '../report.ts';
import type { Draft } from './draft.ts';
import { type Form, readEvents } from './entries.ts';
import { isPicoclaw, readProcesses } from './picoclaw.ts';
import { locateForeign, type Reading, saySwitchedOff } from './reading.ts';
import { type HooksSource, placeOfFile, readForeignFile, sourceOfFile, sourcesOfPlugin } from './sources.ts';

/** What is imported, and how. */
export interface FileImport {
  /** Absolute: a file, or a plugin’s folder. */
  readonly file: string;
  /** As problems name it. */
  readonly shown: string;
  readonly dialect: Exclude<ForeignName, 'chibi'> | undefined;
  /** The config file’s folder, absolute. */
  readonly folder: string;
  readonly mustHold: boolean;
  readonly searchPath: string;
  readonly checks: ForeignChecks;
}

export interface FileContents {
  readonly drafts: readonly Draft[];
  /** In the foreign files. */
  readonly problems: readonly Problem[];
  /** Why a file could not be read at all; belongs to the import. */
  readonly faults: readonly string[];
}

/** Every hook that a foreign file or a plugin’s folder declares, and all that is wrong with them. */
export function readHooksFile(from: FileImport): FileContents {
  if (isFolder(from.file)) {
    const parts = sourcesOfPlugin(from.file, from.shown).map((source) =>
      'fault' in source ? failed(source.fault) : readSource(from, source, true),
    );
    return joinContents(parts);
  }
  const document = readForeignFile(from.file, from.shown);
  if ('fault' in document) return failed(document.fault);
  if (from.dialect === 'picoclaw' || (from.dialect === undefined && isPicoclaw(document))) {
    return readDocumentWith(from, { document, path: [] }, false, (reading) =>
      readProcesses(reading, dirname(from.file)),
    );
  }
  const source = sourceOfFile(document, from.dialect === 'claude');
  if (source !== undefined) return readSource(from, source, source.pluginRoot !== undefined);
  return readDocumentWith(from, { document, path: [] }, false, (reading) => {
    if (!isSwitchedOff(reading)) {
      reading.say({ severity: 'warning', path: [], message: 'has no `hooks`, so nothing is imported' });
    }
    return [];
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readSource(from: FileImport, source: HooksSource, isPlugin: boolean): FileContents {
  const form: Form = from.dialect === 'claude' || from.dialect === 'agentao' ? from.dialect : undefined;
  return readDocumentWith(from, source, isPlugin, (reading) => {
    const hooks = valueAt(source.document, source.path);
    if (isSwitchedOff(reading) || (hooks === null && source.path.length > 0)) return [];
    return readEvents(reading, source.path, form);
  });
}

function isSwitchedOff(reading: Reading): boolean {
  const path = ['disableAllHooks'];
  if (valueAt(reading.document, path) !== true) return false;
  saySwitchedOff(reading, path, 'true');
  return true;
}

function readDocumentWith(
  from: FileImport,
  { document, pluginRoot }: HooksSource,
  isPlugin: boolean,
  read: (reading: Reading) => Draft[],
): FileContents {
  const broken = findBroken(document);
  if (broken.length > 0) return { drafts: [], problems: broken, faults: [] };
  const problems: Problem[] = [];
  const say = (report: Report): void => {
    problems.push(locateForeign(document, report));
  };
  const place = placeOfFile(
    isFolder(from.file) ? join(from.file, 'plugin.json') : from.file,
    from.folder,
    pluginRoot,
  );
  const { checks, searchPath, mustHold } = from;
  const drafts = read({ document, place, isPlugin, checks, searchPath, mustHold, say });
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

function failed(fault: string): FileContents {
  return { drafts: [], problems: [], faults: [fault] };
}

function joinContents(parts: readonly FileContents[]): FileContents {
  return {
    drafts: parts.flatMap(({ drafts }) => drafts),
    problems: parts.flatMap(({ problems }) => problems),
    faults: parts.flatMap(({ faults }) => faults),
  };
}
