/** Numbers and times in the reader's locale. */

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** `162,480` */
export const number = (value: number): string => whole.format(value);

/** `162K`, where the whole number does not fit. */
export const compact = (value: number): string => short.format(value);

/** `81 %` of a share between 0 and 1. */
export const percent = (value: number): string => share.format(value);

const UNITS_OF_SIZE = ["kilobyte", "megabyte", "gigabyte"];

/** `48 kB`, `0.6 kB` */
export function bytes(value: number): string {
  const step = Math.min(UNITS_OF_SIZE.length, Math.max(1, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const size = value / 1000 ** step;
  const unit = UNITS_OF_SIZE[step - 1] ?? "kilobyte";
  const maximumFractionDigits = size < 10 ? 1 : 0;
  return new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits }).format(
    size,
  );
}

/** `$0.0042`: with as many digits as small costs need. */
export function money({ amount, currency }: { amount: number; currency: string }): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount);
}

/** A count with its noun: `1 entry`, `12 entries`. */
export const count = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

/** `14:05`, with the day where it was another one. */
export function time(at: string, now: Date = new Date()): string {
  const date = new Date(at);
  return date.toDateString() === now.toDateString() ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** The whole date and time, to be shown on hover. */
export const fullTime = (at: string): string => full.format(new Date(at));

/** `5 min ago`, `in 6 days` */
export function fromNow(at: string, now: number = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}
