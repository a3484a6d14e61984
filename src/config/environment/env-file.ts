import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { toRuntimeError } from '../../base/errors.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { nonEmptyTextAt } from '../../base/yaml/read.ts';
import { readText } from '../../base/yaml/text-file.ts';

/** The variables of `spec.env_file`, and why it could not be read. */
export interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Absolute; undefined where the config names none. */
  readonly file: string | undefined;
}

/** Reads the file that `spec.env_file` names; `folder` is the config's. */
export function readEnvFile(document: YamlDocument, folder: string): EnvFile {
  const name = nonEmptyTextAt(document, envFilePath);
  if (name === undefined) return { variables: {}, findings: [], file: undefined };
  const file = resolve(folder, name);
  const refuse = (message: string, hint: string): EnvFile => ({
    ...{ variables: {}, file },
    findings: [{ path: envFilePath, message, hint }],
  });
  try {
    const text = readText(file);
    if (typeof text !== 'string')
      return refuse(`${name}:${text.line}:${text.column} ${text.message}`, 'Save it as UTF-8.');
    const variables: Record<string, string> = {};
    for (const [key, value] of Object.entries(parseEnv(text)))
      if (value !== undefined) variables[key] = value;
    return { variables, findings: [], file };
  } catch (thrown) {
    const hint = 'Make the file, or take `env_file` out: an overlay does with `env_file: null`.';
    return refuse(toRuntimeError(thrown).message, hint);
  }
}

/** Where a config names its file of variables. */
const envFilePath = ['spec', 'env_file'] as const;
