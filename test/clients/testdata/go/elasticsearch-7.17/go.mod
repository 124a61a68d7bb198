module client

go 1.26

require github.com/elastic/go-elasticsearch/v7 v7.17.10
