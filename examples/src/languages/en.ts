export default `
hello = Hello, { $name }. Send /order or /language.
which-size = Which size?
small = Small
large = Large
how-many = How many?
is-right = { $count ->
    [one] One { $size } pizza.
   *[other] { $count } { $size } pizzas.
  } Is that right?
  .small = small
  .large = large
ordered = We are baking.
not-ordered = As you like.
late = I did not hear from you.
language = The language is English.
close = Close

yes = Yes
no = No
again = Please write a number, such as 2.
cancelled = Cancelled.
outdated-button = This button is out of date.
`
