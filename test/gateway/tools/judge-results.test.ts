import { judgeResultsContract } from './judge-results-contract.ts';

judgeResultsContract();
