export default `
hello = Привет, { $name }. Отправьте /order или /language.
which-size = Какого размера?
small = Маленькая
large = Большая
how-many = Сколько?
is-right = { $count ->
    [one] { $count } { $size } пицца.
    [few] { $count } { $size } пиццы.
   *[many] { $count } { $size } пицц.
  } Верно?
  .small = (маленькая)
  .large = (большая)
ordered = Уже печём.
not-ordered = Как хотите.
late = Вы не ответили.
language = Язык — русский.
close = Закрыть

yes = Да
no = Нет
again = Напишите число, например 2.
cancelled = Отменено.
outdated-button = Эта кнопка устарела.
`
