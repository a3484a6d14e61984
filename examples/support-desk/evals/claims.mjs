/** Finds the checkable claims in a text: order and tracking numbers, amounts and dates, in normalized spelling. */
export function findClaims(text) {
  const plain = text.normalize('NFKC');
  return [...findNumbers(plain), ...findMoney(plain), ...findDates(plain)];
}

/** `LL-1042` and `NX8842013`. */
function findNumbers(text) {
  return (text.match(/\bLL-\d{4}\b|\b[A-Z]{2}\d{7,8}\b/g) ?? []).map((number) => ({
    text: number,
    value: number,
  }));
}

const CURRENCY = {
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  円: 'JPY',
  EUR: 'EUR',
  GBP: 'GBP',
  JPY: 'JPY',
  $: 'USD',
  USD: 'USD',
};
const SIGN = '(?<sign>€|£|¥|円|\\$|EUR|GBP|JPY|USD)';
const AMOUNT = "(?<amount>\\d{1,3}(?:[., '\\u00a0]\\d{3})+(?:[.,]\\d{2})?(?!\\d)|\\d+(?:[.,]\\d{2})?(?!\\d))";
const MONEY = [new RegExp(`${SIGN}\\s?${AMOUNT}`, 'g'), new RegExp(`${AMOUNT}\\s?${SIGN}`, 'g')];

/** `€48.50`, `48,50 EUR` and `¥6,400`, as `EUR 48.50` and `JPY 6400.00`. */
function findMoney(text) {
  return MONEY.flatMap((pattern) => [...text.matchAll(pattern)]).map(({ 0: found, groups }) => ({
    text: found,
    value: `${CURRENCY[groups.sign]} ${decimal(groups.amount)}`,
  }));
}

function decimal(amount) {
  const [, whole, cents = '00'] = /^(.*?)(?:[.,](\d{2}))?$/.exec(amount);
  return `${Number(whole.replace(/\D/g, ''))}.${cents}`;
}

const MONTHS = [
  'January February March April May June July August September October November December',
  'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec',
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
].map((names) => names.split(' '));
const NAME = `(?<month>${MONTHS.flat().join('|')})(?!\\p{L})`;
const DATES = [
  /(?<!\d)\d{4}-(?<month>\d{2})-(?<day>\d{2})(?!\d)/gu,
  /(?<!\d)(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?:\d{4})?(?!\d)/gu,
  /(?<month>\d{1,2})月(?<day>\d{1,2})日/gu,
  new RegExp(`(?<!\\d)(?<day>\\d{1,2})(?:\\.|st|nd|rd|th|er)?\\s(?:of\\s|de\\s)?${NAME}`, 'gu'),
  new RegExp(`(?<!\\p{L})${NAME}\\s(?<day>\\d{1,2})(?![\\d.,:]\\d)`, 'gu'),
];

/** `13 March`, `13. März`, `3月13日` and `2026-03-13`, all as `03-13`. */
function findDates(text) {
  return DATES.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap(({ 0: found, groups }) => {
    const month = monthNumber(groups.month);
    return month >= 1 && month <= 12
      ? [{ text: found, value: `${pad(month)}-${pad(Number(groups.day))}` }]
      : [];
  });
}

function monthNumber(month) {
  if (/^\d+$/.test(month)) return Number(month);
  return Math.max(...MONTHS.map((names) => names.indexOf(month))) + 1;
}

function pad(number) {
  return String(number).padStart(2, '0');
}
