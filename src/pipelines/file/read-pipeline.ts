import { basename, dirname, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt } from '../../base/yaml/expressions.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { choiceAt, entriesAt, itemsAt, nonEmptyTextAt, schemaAt, textAt } from '../../base/yaml/read.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import type { Pipeline } from './pipeline.ts';
import { everyVariable } from './pipeline.ts';
import { type PipelineOf, readSteps } from './read-step.ts';

/** The pipeline that a checked document declares; `source` is its text. Call it only without errors. */
export function readPipeline(
  document: YamlDocument,
  source: string,
  below: ReadonlyMap<string, Pipeline>,
): Pipeline {
  const file = resolve(document.file);
  const pipelineOf: PipelineOf = (named) => {
    const found = below.get(named);
    if (found === undefined) throw new RuntimeError('INTERNAL', `the pipeline ${named} was not loaded`);
    return found;
  };
  const runtime = nonEmptyTextAt(document, ['spec', 'runtime']);
  return {
    file,
    name: nonEmptyTextAt(document, ['metadata', 'name']) ?? nameOf(file),
    source,
    pipelines: Object.fromEntries(
      [...below].flatMap(([each, { source: text, pipelines }]) => [
        [each, text],
        ...Object.entries(pipelines),
      ]),
    ),
    ...omitUndefined({ runtime: runtime === undefined ? undefined : resolve(dirname(file), runtime) }),
    checkInput: compileSchema(schemaAt(document, ['spec', 'input'])),
    env: itemsAt(document, ['spec', 'env']).map((item) => textAt(document, item) ?? ''),
    vars: entriesAt(document, ['spec', 'vars']).map(({ name, path }) => ({
      name,
      value: expressionAt(document, path, everyVariable) ?? compileExpressions(null, []),
    })),
    steps: readSteps(document, ['spec', 'steps'], pipelineOf),
    finally: readSteps(document, ['spec', 'finally'], pipelineOf),
    ...omitUndefined({
      output: expressionAt(document, ['spec', 'output'], everyVariable),
      onFault: choiceAt(document, ['spec', 'on_fault'], ['suspend', 'fail']),
    }),
  };
}

function nameOf(file: string): string {
  return basename(file).replace(/(\.pipeline)?\.(ya?ml|json)$/, '');
}
