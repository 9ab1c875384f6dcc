# Adds COMMENT ON to the script of an extension, made of the comments in it: for each table, view and
# function of zbxhist, the first paragraph right above it, which ends with an empty comment; for each
# column, the comment behind it or, of a table's, if it has none, those right above it.  What has a
# COMMENT of its own, as what has several signatures, keeps that.

function described(object, text)
{
	sub(/^ +/, "", text)
	if (text == "" || object in texts)
		return
	gsub(/'/, "''", text)
	texts[object] = text
	order[++objects] = object
}

function paragraph(text)
{
	sub(/\.$/, "", text)
	return text
}

function capital(text)
{
	return text ~ /^[a-z]+[ ,:;]/ ? toupper(substr(text, 1, 1)) substr(text, 2) : text
}

# Writes what has been collected.
function flush_comments()
{
	for (i = 1; i <= objects; i++)
		if (!(order[i] in own))
			printf "%sCOMMENT ON %s IS '%s';\n", i == 1 ? "\n" : "", order[i], texts[order[i]]
	objects = 0
}

# a block that copies comments finds them
/^DO \$\$/ {
	flush_comments()
}

{ print }

/^COMMENT ON (FUNCTION|PROCEDURE|COLUMN) / {
	name = $4
	sub(/\(.*/, "", name)
	own[$3 " " name] = 1
}

/^CREATE (TABLE|VIEW) zbxhist\./ {
	described($2 " " $3, paragraph(first))
	table = $2 == "TABLE" ? $3 : ""
	view = $2 == "VIEW" ? $3 : ""
}

/^\);/ {
	table = ""
}

/^  FROM / {
	view = ""
}

/^ *--/ {
	text = $0
	sub(/^ *-- */, "", text)
	ended = ended || text == ""
	above = above " " text
	if (!ended)
		first = first " " text
	next
}

/^CREATE (FUNCTION|PROCEDURE) zbxhist\./ {
	name = $3
	sub(/\(.*/, "", name)
	described($2 " " name, paragraph(first))
}

table != "" && /^    [a-z_]+ / {
	text = ""
	if (match($0, /  *-- /))
		text = substr($0, RSTART + RLENGTH)
	described("COLUMN " table "." $1, capital(text != "" ? text : substr(above, 2)))
}

view != "" && match($0, /,?  -- /) {
	name = substr($0, 1, RSTART - 1)
	text = substr($0, RSTART + RLENGTH)
	sub(/.*[ .]/, "", name)
	described("COLUMN " view "." name, capital(text))
}

{ above = ""; first = ""; ended = 0 }

END {
	flush_comments()
}
