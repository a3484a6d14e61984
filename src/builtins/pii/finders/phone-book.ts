import type { CountryCode } from 'libphonenumber-js/max';
import { libraries } from '../lazy-libraries.ts';

/** Looks numbers up in the numbering plans of the world. */
export interface PhoneBook {
  /** Whether the number is one of its country's plan; without a country code, of one of the regions. */
  isValid(dialled: string): boolean;
  /** Whether it has the form of a mobile number of a region where people write these in one piece, without a word before them. */
  isMobile(dialled: string): boolean;
}

/** Looking a number up in one plan takes 50 µs; of one text no more are looked up, and the shape of the others decides. */
const maxLookups = 10_000;

export function createPhoneBook(regions: readonly CountryCode[]): PhoneBook {
  const known = new Map<string, boolean>();
  let lookups = 0;
  const isValidIn = (dialled: string, defaultCountry: CountryCode) => {
    lookups += 1;
    const { parsePhoneNumberFromString } = libraries.phones();
    return parsePhoneNumberFromString(dialled, { defaultCountry, extract: false })?.isValid() ?? false;
  };
  return {
    isValid: (dialled) => {
      const answer = known.get(dialled);
      if (answer !== undefined || lookups >= maxLookups) return answer ?? true;
      const candidates = dialled.startsWith('+') ? regions.slice(0, 1) : regions;
      const isValid = candidates.some((region) => isValidIn(dialled, region));
      known.set(dialled, isValid);
      return isValid;
    },
    isMobile: (dialled) => regions.some((region) => bareMobiles[region]?.test(dialled) === true),
  };
}

const bareMobiles: Readonly<Partial<Record<CountryCode, RegExp>>> = {
  CN: /^1[3-9]\d{9}$/,
  JP: /^0[5789]0\d{8}$/,
  KR: /^010\d{8}$/,
  IN: /^[6-9]\d{9}$/,
  DE: /^01(?:5\d|6[0-3]|7\d)\d{7,8}$/,
  FR: /^0[67]\d{8}$/,
  GB: /^07\d{9}$/,
};
