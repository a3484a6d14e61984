import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { toRuntimeError } from '../base/errors.ts';
import { KEY_LENGTH } from '../base/files/key-file.ts';
import { type Path, readDocument, type YamlDocument } from '../base/yaml/document.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { itemsAt, nonEmptyTextAt, textAt } from '../base/yaml/read.ts';
import { guards } from '../builtins/guards/guards.ts';
import { type GuardHost, usageError } from '../builtins/guards/program/options.ts';
import { readExec } from '../config/exec.ts';
import { execEntries } from '../config/references.ts';
import { locateFinding } from '../config/schema.ts';
import { closeEnv, type HostEnv, hostEnv } from '../process/env.ts';

export async function findGuardProblems(
  document: YamlDocument,
  file: string,
  env: HostEnv = hostEnv(),
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const { path } of execEntries(document)) {
    const command = textAt(document, [...path, 'command']);
    const [, load] = Object.entries(guards).find(([name]) => name === command) ?? [];
    if (load === undefined) continue;
    const { args, env: given, cwd = '.' } = readExec(document, path, { refused: undefined });
    const { guard } = await load();
    const { variables } = closeEnv(given, env);
    try {
      guard.readSettings(
        args,
        hostOf(resolve(dirname(file), cwd), variables, { file: resolve(file), document }),
      );
    } catch (thrown) {
      const { message, hint } = toRuntimeError(thrown);
      const finding = { path: placeOf(document, path, message), message: `${command}: ${message}`, hint };
      problems.push(locateFinding(document, finding));
    }
  }
  return problems;
}

function hostOf(
  folder: string,
  env: GuardHost['env'],
  own: { readonly file: string; readonly document: YamlDocument },
): GuardHost {
  const providersOf = (file: string) => {
    const document = file === own.file ? own.document : readDocument(file);
    return itemsAt(document, ['spec', 'providers']).flatMap(
      (item) => nonEmptyTextAt(document, [...item, 'id']) ?? textAt(document, [...item, 'type']) ?? [],
    );
  };
  return {
    env,
    openKey: (name) => {
      const at = resolve(folder, name);
      if (existsSync(dirname(at))) return new Uint8Array(KEY_LENGTH);
      throw usageError(`the key file ${at} cannot be created`, `Create the folder ${dirname(at)}.`);
    },
    openJudge: (config, provider) => {
      const files = (config.length === 0 ? ['runtime.yaml'] : config).map((each) => resolve(folder, each));
      const known = files.flatMap(providersOf);
      if (known.includes(provider)) return async () => 0;
      const hint = known.length === 0 ? 'It declares none.' : `It declares ${known.join(', ')}.`;
      throw usageError(`no provider "${provider}" is declared in ${files.join(', ')}`, hint);
    },
  };
}

function placeOf(document: YamlDocument, path: Path, message: string): Path {
  const quoted = /"([^"]+)"/.exec(message)?.[1];
  const found = itemsAt(document, [...path, 'args']).findLast((item) => {
    const text = textAt(document, item) ?? '';
    return text !== '' && (quoted === undefined ? message.includes(text) : text.includes(quoted));
  });
  return found ?? [...path, 'command'];
}
