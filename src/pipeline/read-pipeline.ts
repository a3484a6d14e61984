import { basename, dirname, resolve } from 'node:path';
import type { YamlDocument } from '../config/document.ts';
import { present } from '../config/present.ts';
import { valueAt, wordAt } from '../config/read.ts';
import { isObject } from '../json.ts';
import type { Pipeline } from './model.ts';
import { expressionAt } from './read-expression.ts';
import { readSteps } from './read-step.ts';
import { compileSchema } from './schema.ts';

/** The pipeline that a checked document declares; `source` is its text. Call it only without errors. */
export function readPipeline(document: YamlDocument, source: string): Pipeline {
  const file = resolve(document.file);
  const runtime = wordAt(document, ['spec', 'runtime']);
  const input = valueAt(document, ['spec', 'input']);
  return {
    file,
    name: wordAt(document, ['metadata', 'name']) ?? nameOf(file),
    source,
    ...present({ runtime: runtime === undefined ? undefined : resolve(dirname(file), runtime) }),
    checkInput: compileSchema(isObject(input) || typeof input === 'boolean' ? input : undefined),
    steps: readSteps(document, ['spec', 'steps']),
    ...present({ output: expressionAt(document, ['spec', 'output']) }),
  };
}

function nameOf(file: string): string {
  return basename(file).replace(/(\.pipeline)?\.(ya?ml|json)$/, '');
}
