import { seenMessagesContract } from './seen-messages-contract.ts';

seenMessagesContract();
