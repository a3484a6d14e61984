import type { YamlDocument } from '../../base/yaml/document.ts';
import { isError } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { valueAt } from '../../base/yaml/read.ts';
import type { ConfigEnvironment } from '../config.ts';
import { locateFinding } from '../report.ts';
import { promptkitVersion } from '../schema/schema.ts';
import { readEnvFile } from './env-file.ts';
import { type FilledDocument, fillDocument, type Variables } from './fill.ts';

/** A RuntimeConfig document with what it has of the environment. */
export interface ReadEnvironment {
  readonly filled: FilledDocument;
  readonly problems: readonly Problem[];
  /** Whether a problem is more than the echo of a reference that could not be filled in. */
  readonly isOwn: (problem: Problem) => boolean;
  /** Undefined where the config uses nothing of it. */
  readonly used: ConfigEnvironment | undefined;
}

/** Fills the environment into a document. In PromptKit's files `${env:…}` is text, as it is for PromptKit. */
export function readEnvironment(document: YamlDocument, folder: string, env: Variables): ReadEnvironment {
  const { variables, findings: ofFile, file } = readEnvFile(document, folder);
  const isText = valueAt(document, ['apiVersion']) === promptkitVersion || document.value === undefined;
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  const filled = isText
    ? { document, findings: [], filled: [], secrets: new Map<string, string>() }
    : fillDocument(document, { ...variables, ...Object.fromEntries(set) });
  // Where the file of variables is missing, so are they: one problem says so.
  const findings = ofFile.length > 0 ? ofFile : filled.findings;
  const unfilled = filled.findings.filter(isError).map((finding) => locateFinding(document, finding));
  const secrets = [...filled.secrets.values()];
  return {
    filled,
    problems: findings.map((finding) => locateFinding(document, finding)),
    isOwn: ({ line, column, file: place }) =>
      !unfilled.some((each) => each.line === line && each.column === column && each.file === place),
    used:
      file === undefined && secrets.length === 0
        ? undefined
        : { variables, secrets, ...(file === undefined ? {} : { file }) },
  };
}
