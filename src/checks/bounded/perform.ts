import { testPattern } from '../regex/pattern.ts';
import type { Answers, Kind, Order } from './job.ts';

/** Does a job; it may take for ever. Rejects with what its work throws. */
export async function perform(order: Order): Promise<Answers[Kind]> {
  switch (order.kind) {
    case 'match':
      return testPattern(order.job.pattern, order.job.text);
    case 'search': {
      const { searchJson } = await import('../json/search.ts');
      return searchJson(order.job);
    }
    case 'schema': {
      const { compareWithSchema } = await import('../json/compare.ts');
      return compareWithSchema(order.job);
    }
  }
}
