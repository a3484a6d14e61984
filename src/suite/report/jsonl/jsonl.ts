import { stringifyJson } from '../../../json/json.ts';
import type { OpenReporter } from '../reporter.ts';

/** Everything of a run, one JSON document to a line, as it comes: `openRunFile` reads it back. */
export const openJsonl: OpenReporter = (sink) => {
  const write = (type: string, members: object): Promise<void> =>
    sink.write(`${stringifyJson({ type, ...members })}\n`);
  return {
    begin: (header) => write('run', header),
    onCase: (record) => write('case', record),
    onProblem: (problem) => write('problem', problem),
    onRating: (rating) => write('rating', rating),
    end: (report) => write('report', report),
  };
};
