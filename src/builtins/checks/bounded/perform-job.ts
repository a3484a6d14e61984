import { testPattern } from '../regex/pattern.ts';
import type { JobKind, JobResults, WorkerRequest } from './job.ts';

export async function performJob(request: WorkerRequest): Promise<JobResults[JobKind]> {
  switch (request.kind) {
    case 'match':
      return testPattern(request.job.pattern, request.job.text);
    case 'search': {
      const { searchJson } = await import('../json/json-search.ts');
      return searchJson(request.job);
    }
    case 'schema': {
      const { compareWithSchema } = await import('../json/schema-comparison.ts');
      return compareWithSchema(request.job);
    }
  }
}
