import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatProblem } from '../../src/base/yaml/problem.ts';
import { loadPipeline } from '../../src/pipelines/file/load.ts';
import type { Pipeline } from '../../src/pipelines/file/pipeline.ts';
import type { PipelineRuntime } from '../../src/pipelines/file/validate-names.ts';
import { makeSharedFolder } from '../shared-folder.ts';

export const header = 'apiVersion: signalbox/v1\nkind: Pipeline\n';
export const folder = makeSharedFolder('pipelines-');

export function write(name: string, text: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

interface Loaded {
  readonly pipeline: Pipeline | undefined;
  /** `LINE:COL message`, hints after ` | `. */
  readonly problems: readonly string[];
}

export function loadText(text: string, runtime?: PipelineRuntime): Loaded {
  const file = write('x.pipeline.yaml', text);
  const { pipeline, problems } = loadPipeline(file, runtime);
  const lines = problems.map((problem) =>
    formatProblem(problem)
      .replaceAll(`${file}:`, '')
      .replaceAll(`${folder}/`, '')
      .replace('\n    hint: ', ' | '),
  );
  return { pipeline, problems: lines };
}

/** A pipeline with that `spec` (YAML lines), which starts at line 4, column 3. */
export function loadSpec(spec: string, runtime?: PipelineRuntime): Loaded {
  const lines = spec.trimEnd().split('\n');
  return loadText(`${header}spec:\n${lines.map((line) => `  ${line}`).join('\n')}\n`, runtime);
}

/** A pipeline of those steps. The first is at line 5, column 7. */
export function loadSteps(steps: readonly string[], runtime?: PipelineRuntime): Loaded {
  return loadSpec(`steps:\n${steps.map((step) => `  - ${step}`).join('\n')}`, runtime);
}

/** Ignores undeclared names. */
export function problemsOfSteps(...steps: readonly string[]): readonly string[] {
  return loadSteps(steps).problems;
}
